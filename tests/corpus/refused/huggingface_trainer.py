# refused: the Trainer of transformers owns the training loop and distributes by itself
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=5)
dataset = load_dataset("yelp_review_full")
dataset = dataset.map(lambda e: tokenizer(e["text"], padding="max_length", truncation=True), batched=True)

training_args = TrainingArguments(output_dir="out", num_train_epochs=1, per_device_train_batch_size=8)
trainer = Trainer(model=model, args=training_args, train_dataset=dataset["train"], eval_dataset=dataset["test"])
trainer.train()
print(trainer.evaluate())
