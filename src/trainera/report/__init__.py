"""Reports: from results to one sentence, tables, charts and a page."""
