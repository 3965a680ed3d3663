"""The operations of torch on tensors: functions, methods, `torch.nn.functional` and its like.

Names are those of torch without ``torch.``; a function of `torch.nn.functional` is entered by its
own name. The methods of a tensor are the functions of that name, unless they are entered as
``Tensor.name``. Every entry is tried against torch itself (`tests/operations`).
"""

from trainera.read.ops import (
    along,
    blocks,
    elementwise,
    joining,
    products,
    reductions,
    reshaping,
    selecting,
    turning,
)
from trainera.read.ops.table import Operation, Table

TORCH = Table("torch")

# Entry by entry. A row of the result depends on that row of the operands only.
TORCH.add(
    "abs absolute acos acosh add addcdiv addcmul angle arccos arccosh arcsin arcsinh arctan "
    "arctan2 arctanh asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_or "
    "bitwise_right_shift bitwise_xor ceil celu clamp clamp_max clamp_min clip "
    "complex conj conj_physical copysign cos cosh deg2rad digamma div divide "
    "elu erf erfc erfinv exp exp2 expm1 fix float_power floor "
    "floor_divide fmax fmin fmod frac gcd gelu hardshrink hardsigmoid hardswish "
    "hardtanh heaviside hypot i0 igamma igammac lcm ldexp leaky_relu lerp lgamma log log10 "
    "log1p log2 logaddexp logaddexp2 logit logsigmoid maximum minimum mish "
    "mul multiply mvlgamma nan_to_num neg negative nextafter polar polygamma "
    "positive pow rad2deg real imag reciprocal relu relu6 remainder round rsqrt rsub "
    "selu sgn sigmoid sign silu sin sinc sinh softplus softshrink softsign sqrt "
    "square sub subtract tan tanh tanhshrink threshold true_divide trunc "
    "xlogy special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 "
    "special.bessel_y1 special.chebyshev_polynomial_t special.chebyshev_polynomial_u "
    "special.chebyshev_polynomial_v special.chebyshev_polynomial_w special.digamma special.entr "
    "special.erf special.erfc special.erfcx special.erfinv special.exp2 special.expit "
    "special.expm1 special.gammainc special.gammaincc special.gammaln "
    "special.hermite_polynomial_h special.hermite_polynomial_he special.i0 special.i0e special.i1 "
    "special.i1e special.laguerre_polynomial_l special.legendre_polynomial_p special.log1p "
    "special.log_ndtr special.logit special.modified_bessel_i0 special.modified_bessel_i1 "
    "special.modified_bessel_k0 special.modified_bessel_k1 special.multigammaln special.ndtr "
    "special.ndtri special.polygamma special.psi special.round "
    "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 "
    "special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u "
    "special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w special.sinc "
    "special.spherical_bessel_j0 special.xlog1py special.xlogy special.zeta "
    "masked.logaddexp fill frexp",
    elementwise.elementwise,
    keeps_rows=True,
)
TORCH.add("where", elementwise.chosen, "condition, input=None, other=None", keeps_rows=True)
TORCH.add("masked_fill", elementwise.elementwise, "input, mask, value", keeps_rows=True)
TORCH.add(
    "eq equal_ ge greater greater_equal gt isclose isfinite isinf isnan isneginf isposinf isreal "
    "le less less_equal logical_and logical_not logical_or logical_xor lt ne not_equal signbit",
    elementwise.elementwise,
    mask=True,
    ends_gradient=True,
    keeps_rows=True,
)
TORCH.add("bitwise_not", elementwise.elementwise, keeps_mask=True, keeps_rows=True)
# Casts, copies and moves.
TORCH.add(
    "bfloat16 cdouble cfloat chalf clone contiguous cpu cuda double float half "
    "pin_memory requires_grad_ resolve_conj resolve_neg retain_grad type type_as "
    "to xpu alias_copy data as_tensor asarray tensor",
    elementwise.moved,
    keeps_mask=True,
    keeps_rows=True,
)
TORCH.add(
    "numpy from_numpy detach",
    elementwise.moved,
    keeps_mask=True,
    ends_gradient=True,
    keeps_rows=True,
)
TORCH.add("tolist", elementwise.moved, gives_list=True, ends_gradient=True, keeps_rows=True)
TORCH.add("byte char int long short", elementwise.moved, ends_gradient=True, keeps_rows=True)
TORCH.add("bool", elementwise.moved, mask=True, ends_gradient=True, keeps_rows=True)
# Drawn for each entry, from the worker's own numbers.
TORCH.add(
    "bernoulli dropout alpha_dropout feature_alpha_dropout rrelu native_dropout "
    "cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_ bernoulli_",
    elementwise.first_only,
    keeps_rows=True,
)
TORCH.add(
    "rand_like randint_like randn_like ones_like zeros_like full_like empty_like zero_",
    elementwise.alike,
    keeps_rows=True,
    ends_gradient=True,
)
TORCH.add("gumbel_softmax", along.drawn, "logits, tau=1, hard=False, eps=1e-10, dim=-1")
TORCH.add("prelu", blocks.slope, "input, weight")

# Wider by a dimension.
TORCH.add(
    "embedding",
    elementwise.wider,
    "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, "
    "sparse=False",
)
TORCH.add("vander linalg.vander", elementwise.powers, "x, N=None, increasing=False")
TORCH.add("one_hot", elementwise.one_hot, "input, num_classes=-1", ends_gradient=True)

# Reductions, and what they give over rows.
REDUCES = "input, dim=None, keepdim=False, *, dtype=None"
TORCH.add("sum nansum", reductions.reduction(reductions.sums), REDUCES)
TORCH.add("mean", reductions.reduction(reductions.averages), REDUCES)
TORCH.add(
    "count_nonzero", reductions.without_flag(reductions.sums), "input, dim=None", ends_gradient=True
)
TORCH.add("nanmean amax amin logsumexp special.logsumexp prod", reductions.reduction(), REDUCES)
TORCH.add("all any", reductions.reduction(), REDUCES, mask=True, ends_gradient=True)
TORCH.add("argmax argmin", reductions.reduction(), REDUCES, ends_gradient=True)
TORCH.add("max min", reductions.extreme, "input, dim=None, keepdim=False")
TORCH.add("median nanmedian", reductions.extreme, "input, dim=None, keepdim=False")
TORCH.add("aminmax", reductions.reduction(gives=2), "input, *, dim=None, keepdim=False")
TORCH.add("mode", reductions.reduction(gives=2), "input, dim=-1, keepdim=False")
TORCH.add("kthvalue", reductions.reduction(gives=2), "input, k, dim=-1, keepdim=False")
TORCH.add(
    "std var", reductions.spread(), "input, dim=None, unbiased=True, keepdim=False, *, correction=1"
)
TORCH.add(
    "std_mean var_mean",
    reductions.spread(gives=2),
    "input, dim=None, unbiased=True, keepdim=False, *, correction=1",
)
TORCH.add("norm", reductions.reduction(), "input, p='fro', dim=None, keepdim=False, *, dtype=None")
TORCH.add(
    "linalg.norm linalg.vector_norm",
    reductions.reduction(),
    "input, ord=None, dim=None, keepdim=False, *, dtype=None",
)
TORCH.add(
    "linalg.matrix_norm",
    reductions.reduction(),
    "input, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None",
)
TORCH.add(
    "quantile nanquantile",
    reductions.quantile,
    "input, q, dim=None, keepdim=False, *, interpolation='linear'",
)
TORCH.add("numel nelement", reductions.counted, "input", ends_gradient=True)
TORCH.add("cosine_similarity", reductions.between, "x1, x2, dim=1, eps=1e-08")
TORCH.add("pairwise_distance", reductions.between, "x1, x2, p=2.0, eps=1e-06, keepdim=False")
TORCH.add("linalg.vecdot", reductions.between, "input, other, *, dim=-1")
TORCH.add("trapezoid trapz", reductions.integral, "y, x=None, *, dx=None, dim=-1")
MASKED = "input, dim=None, *, keepdim=False, dtype=None, mask=None"
TORCH.add("masked.sum", reductions.reduction(reductions.sums), MASKED)
TORCH.add(
    "masked.amax masked.amin masked.prod masked.mean masked.logsumexp",
    reductions.reduction(),
    MASKED,
)
TORCH.add("masked.argmax masked.argmin", reductions.reduction(), MASKED, ends_gradient=True)
TORCH.add(
    "masked.median",
    reductions.reduction(),
    "input, dim=-1, *, keepdim=False, dtype=None, mask=None",
)
TORCH.add(
    "masked.norm",
    reductions.reduction(),
    "input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None",
)
TORCH.add(
    "masked.std masked.var",
    reductions.spread(),
    "input, dim=None, unbiased=None, *, keepdim=False, dtype=None, mask=None, correction=1",
)
TORCH.add("trace vdot dist linalg.cond linalg.multi_dot", reductions.one_figure, "input, *others")
TORCH.add(
    "allclose equal",
    reductions.one_figure,
    "input, other, *others, rtol=0, atol=0, equal_nan=False",
)

# Along a dimension, which stays.
TORCH.add(
    "softmax log_softmax softmin special.softmax special.log_softmax",
    along.or_second(),
    "input, dim=None, _stacklevel=3, dtype=None",
)
TORCH.add("cumsum cumprod logcumsumexp", along.along(), "input, dim, *, dtype=None")
TORCH.add("cummax cummin", along.along(gives=2), "input, dim")
TORCH.add("sort", along.along(gives=2), "input, dim=-1, descending=False, stable=False")
TORCH.add(
    "argsort", along.along(), "input, dim=-1, descending=False, stable=False", ends_gradient=True
)
TORCH.add("msort flipud", along.fixed(0), "input")
TORCH.add("fliplr", along.fixed(1), "input")
TORCH.add("topk", along.along(gives=2), "input, k, dim=-1, largest=True, sorted=True")
TORCH.add("flip", along.along("dims"), "input, *dims", keeps_rows=True)
TORCH.add("roll", along.along("dims"), "input, shifts, dims=None", keeps_rows=True)
TORCH.add("normalize", along.along(), "input, p=2.0, dim=1, eps=1e-12")
TORCH.add("glu", along.along(), "input, dim=-1")
TORCH.add("renorm", reductions.every_entry, "input, p, dim, maxnorm")
TORCH.add("tril triu", along.fixed(-2, -1), "input, diagonal=0")
TORCH.add("diff", along.along(), "input, n=1, dim=-1, prepend=None, append=None")
TORCH.add("gradient", along.sloped, "input, *, spacing=1, dim=None, edge_order=1")
TORCH.add("cumulative_trapezoid", along.along(), "y, x=None, *, dx=None, dim=-1")
TORCH.add("linalg.cross", along.along(), "input, other, *, dim=-1")
TORCH.add("cross", along.along(), "input, other, dim=None")
MASKED_ALONG = "input, dim, *, dtype=None, mask=None"
TORCH.add(
    "masked.softmax masked.log_softmax masked.softmin masked.cumsum masked.cumprod",
    along.along(),
    MASKED_ALONG,
)
TORCH.add("masked.normalize", along.along(), "input, ord, dim, *, eps=1e-12, dtype=None, mask=None")
TORCH.add(
    "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft",
    along.along(),
    "input, n=None, dim=-1, norm=None",
)
TORCH.add(
    "fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.hfft2 fft.ihfft2",
    along.along(),
    "input, s=None, dim=(-2, -1), norm=None",
)
TORCH.add(
    "fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.hfftn fft.ihfftn",
    along.transformed,
    "input, s=None, dim=None, norm=None",
)
TORCH.add("fft.fftshift fft.ifftshift", along.along(), "input, dim=None")
TORCH.add("narrow narrow_copy", along.of_one_tensor(), "input, dim, start, length")
TORCH.add("index_fill", along.of_one_tensor(), "input, dim, index, value")

# Where the batch goes.
TORCH.add("view reshape", reshaping.view, "input, *shape", keeps_mask=True)
TORCH.add("ravel", reshaping.flatten_all, "input", keeps_mask=True)
TORCH.add("flatten", reshaping.flatten, "input, start_dim=0, end_dim=-1", keeps_mask=True)
TORCH.add("unflatten", reshaping.unflatten, "input, dim, *sizes", keeps_mask=True)
TORCH.add("squeeze squeeze_copy", reshaping.squeeze, "input, dim=None", keeps_mask=True)
TORCH.add("unsqueeze unsqueeze_copy", reshaping.unsqueeze, "input, dim", keeps_mask=True)
TORCH.add(
    "transpose transpose_copy swapaxes swapdims",
    turning.transpose,
    "input, dim0, dim1",
    keeps_mask=True,
)
TORCH.add("permute permute_copy", turning.permute, "input, *dims", keeps_mask=True)
TORCH.add("movedim moveaxis", turning.movedim, "input, source, destination", keeps_mask=True)
TORCH.add("rot90", turning.rotated, "input, k=1, dims=(0, 1)")
TORCH.add("t t_copy", turning.matrix_transpose, "input", keeps_mask=True)
TORCH.add("T", turning.reversed_dims, "input", keeps_mask=True)
TORCH.add("mT adjoint mH", turning.turned(-2, -1), "input", keeps_mask=True)
TORCH.add("H", turning.matrix_transpose, "input", keeps_mask=True)
TORCH.add("expand broadcast_to", reshaping.expand, "input, *sizes", keeps_mask=True, to_size=True)
TORCH.add("repeat tile", reshaping.repeat, "input, *sizes", keeps_mask=True, to_size=True)
TORCH.add(
    "repeat_interleave",
    reshaping.repeat_interleave,
    "input, repeats, dim=None, *, output_size=None",
    keeps_mask=True,
)
TORCH.add("select", reshaping.select, "input, dim, index", keeps_mask=True)
TORCH.add(
    "split unsafe_split split_with_sizes",
    reshaping.pieces(),
    "input, split_size_or_sections, dim=0",
    keeps_mask=True,
)
TORCH.add("tensor_split", reshaping.pieces(), "input, indices_or_sections, dim=0", keeps_mask=True)
TORCH.add("hsplit", reshaping.pieces_along(1), "input, *sections", keeps_mask=True)
TORCH.add("vsplit", reshaping.pieces_along(0), "input, *sections", keeps_mask=True)
TORCH.add("dsplit", reshaping.pieces_along(2), "input, *sections", keeps_mask=True)
TORCH.add("chunk unsafe_chunk", reshaping.chunk, "input, chunks, dim=0", keeps_mask=True)
TORCH.add("unbind unbind_copy", reshaping.unbind, "input, dim=0", keeps_mask=True)
TORCH.add("Tensor.unfold unfold_copy", reshaping.unfold, "input, dimension, size, step")
TORCH.add("diagonal diagonal_copy", reshaping.diagonal, "input, offset=0, dim1=0, dim2=1")
TORCH.add("linalg.diagonal", reshaping.diagonal, "input, *, offset=0, dim1=-2, dim2=-1")
TORCH.add("diag_embed", reshaping.diag_embed, "input, offset=0, dim1=-2, dim2=-1")
TORCH.add("view_as reshape_as", reshaping.like, "input, other", keeps_mask=True)
TORCH.add("expand_as", reshaping.expanded_like, "input, other", keeps_mask=True)
TORCH.add("atleast_1d", reshaping.at_least(1), "input", keeps_mask=True)
TORCH.add("atleast_2d", reshaping.at_least(2), "input", keeps_mask=True)
TORCH.add("atleast_3d", reshaping.at_least(3), "input", keeps_mask=True)
TORCH.add("view_as_real", reshaping.split_last, "input")
TORCH.add("view_as_complex", reshaping.join_last, "input")
TORCH.add("broadcast_tensors", joining.broadcast, "*tensors")

# Put together.
TORCH.add(
    "cat concat concatenate", joining.cat, "tensors, dim=0", keeps_mask=True, takes_figures=True
)
TORCH.add("stack", joining.stack, "tensors, dim=0", keeps_mask=True, takes_figures=True)
TORCH.add("hstack", joining.beside, "tensors", keeps_mask=True, takes_figures=True)
TORCH.add("vstack row_stack", joining.rows, "tensors", keeps_mask=True, takes_figures=True)
TORCH.add("dstack", joining.behind, "tensors", keeps_mask=True, takes_figures=True)
TORCH.add("column_stack", joining.columns, "tensors", keeps_mask=True, takes_figures=True)

# Looked up and picked.
TORCH.add("gather", selecting.along_rows("index"), "input, dim, index, *, sparse_grad=False")
TORCH.add("take_along_dim", selecting.along_rows("indices"), "input, indices, dim=None")
TORCH.add(
    "scatter scatter_add",
    selecting.along_rows("index", "src", "value"),
    "input, dim, index, src=None, *, value=None, reduce=None",
)
TORCH.add(
    "scatter_reduce",
    selecting.along_rows("index", "src"),
    "input, dim, index, src, reduce, *, include_self=True",
)
TORCH.add(
    "index_add index_copy index_reduce",
    selecting.written,
    "input, dim, index, source, *options, **more",
)
TORCH.add("index_select", selecting.index_select, "input, dim, index", keeps_mask=True)
TORCH.add("masked_select", selecting.masked_select, "input, mask", keeps_mask=True)
TORCH.add(
    "bucketize",
    selecting.looked_up,
    "input, boundaries, *, out_int32=False, right=False",
    ends_gradient=True,
)
TORCH.add(
    "searchsorted",
    selecting.searched,
    "sorted_sequence, values, *, out_int32=False, right=False, side=None, sorter=None",
    ends_gradient=True,
)
TORCH.add(
    "isin",
    selecting.looked_up,
    "elements, test_elements, *, assume_unique=False, invert=False",
    mask=True,
    ends_gradient=True,
)

# Products.
TORCH.add("matmul", products.matmul, "input, other")
TORCH.add("mm", products.ranked(2, 2), "input, mat2")
TORCH.add("bmm", products.ranked(3, 3), "input, mat2")
TORCH.add("mv", products.ranked(2, 1), "input, vec")
TORCH.add("dot inner", products.dot, "input, other")
TORCH.add("cdist", products.distances, "x1, x2, *options, **more")
TORCH.add(
    "addmm",
    products.added("mat1", "mat2", products.ranked(2, 2)),
    "input, mat1, mat2, *, beta=1, alpha=1",
)
TORCH.add(
    "addmv",
    products.added("mat", "vec", products.ranked(2, 1)),
    "input, mat, vec, *, beta=1, alpha=1",
)
TORCH.add("linear", products.linear, "input, weight, bias=None")
TORCH.add("einsum", products.einsum, "equation, *operands")
TORCH.add("bilinear", products.bilinear, "input1, input2, weight, bias=None")
TORCH.add(
    "baddbmm",
    products.added("batch1", "batch2", products.ranked(3, 3)),
    "input, batch1, batch2, *, beta=1, alpha=1",
)
TORCH.add(
    "addbmm",
    products.added("batch1", "batch2", products.summed),
    "input, batch1, batch2, *, beta=1, alpha=1",
)
TORCH.add("outer ger", products.outer, "input, vec2")
TORCH.add(
    "addr", products.added("vec1", "vec2", products.outer), "input, vec1, vec2, *, beta=1, alpha=1"
)
TORCH.add("kron", products.kron, "input, other")
TORCH.add(
    "cartesian_prod block_diag meshgrid pdist cov corrcoef combinations",
    reshaping.mixes,
)

# Matrices in the last two dimensions.
TORCH.add(
    "linalg.inv linalg.pinv linalg.matrix_power linalg.cholesky linalg.matrix_exp matrix_exp "
    "matrix_power cholesky inverse pinverse linalg.householder_product cholesky_inverse",
    blocks.block("*nxx"),
    "input, *others, upper=False, hermitian=False, rcond=None, atol=None, rtol=None",
)
TORCH.add(
    "linalg.det det logdet linalg.matrix_rank linalg.cond_",
    blocks.block("*nxx", change=-2),
    "input, *others, hermitian=False, atol=None, rtol=None",
)
TORCH.add(
    "linalg.svdvals linalg.eigvalsh linalg.eigvals",
    blocks.block("*nxx", change=-1),
    "input, *others, driver=None, UPLO='L'",
)

MATRIX = "input, *options, **more"
TORCH.add("qr linalg.qr", blocks.matrices("m", "m"), MATRIX)
TORCH.add("svd linalg.svd", blocks.matrices("m", "v", "m"), MATRIX)
TORCH.add("linalg.eigh linalg.eig", blocks.matrices("v", "m"), MATRIX)
TORCH.add("linalg.slogdet slogdet", blocks.matrices("s", "s"), MATRIX)
TORCH.add("linalg.lu_factor", blocks.matrices("m", "v"), MATRIX)
TORCH.add("linalg.inv_ex linalg.cholesky_ex", blocks.matrices("m", "s"), MATRIX)
TORCH.add("linalg.solve", blocks.solved("A", "B"), "A, B, *, left=True")
TORCH.add(
    "linalg.solve_triangular",
    blocks.solved("A", "B"),
    "A, B, *, upper, left=True, unitriangular=False",
)
TORCH.add("cholesky_solve", blocks.solved("L", "B"), "B, L, upper=False")

# Windows, pooling and the like: rows come first, then channels.
CONVOLUTION = "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1"
TORCH.add("conv1d", blocks.block("npx", "px"), CONVOLUTION)
TORCH.add("conv2d", blocks.block("npxx", "pxx"), CONVOLUTION)
TORCH.add("conv3d", blocks.block("npxxx", "pxxx"), CONVOLUTION)
TRANSPOSED = "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1"
TORCH.add("conv_transpose1d", blocks.block("npx", "px"), TRANSPOSED)
TORCH.add("conv_transpose2d", blocks.block("npxx", "pxx"), TRANSPOSED)
TORCH.add("conv_transpose3d", blocks.block("npxxx", "pxxx"), TRANSPOSED)
TORCH.add(
    "avg_pool1d lp_pool1d",
    blocks.block("nnx", "nx"),
    "input, *options, **more",
)
TORCH.add(
    "avg_pool2d lp_pool2d",
    blocks.block("nnxx", "nxx"),
    "input, *options, **more",
)
TORCH.add(
    "avg_pool3d lp_pool3d",
    blocks.block("nnxxx", "nxxx"),
    "input, *options, **more",
)
POOLED = (
    "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False"
)
UNPOOLED = "input, indices, kernel_size, stride=None, padding=0, output_size=None"
for space in (1, 2, 3):
    windows = "x" * space
    TORCH.add(f"max_pool{space}d", blocks.pooled(f"nn{windows}", f"n{windows}"), POOLED)
    TORCH.add(f"max_unpool{space}d", blocks.unpooled(f"nn{windows}", f"n{windows}"), UNPOOLED)
    TORCH.add(f"adaptive_avg_pool{space}d", blocks.adaptive(space), "input, output_size")
    TORCH.add(
        f"adaptive_max_pool{space}d",
        blocks.adaptive(space),
        "input, output_size, return_indices=False",
    )
TORCH.add("dropout1d", blocks.block("nnx", "nx"), "input, *options, **more")
TORCH.add("dropout2d", blocks.block("nnxx", "nxx"), "input, *options, **more")
TORCH.add("dropout3d", blocks.block("nnxxx", "nxxx"), "input, *options, **more")
TORCH.add(
    "interpolate upsample upsample_nearest upsample_bilinear",
    blocks.block("nnx", "nnxx", "nnxxx"),
    "input, *options, **more",
)
TORCH.add("pad constant_pad_nd", blocks.padded, "input, pad, mode='constant', value=None")
TORCH.add(
    "pixel_shuffle pixel_unshuffle",
    blocks.block("*nxxx"),
    "input, *options, **more",
)
TORCH.add("channel_shuffle", blocks.block("nxnn*"), "input, groups")
TORCH.add("nn.functional.unfold", blocks.block("nxxx", "xxx", change=-1), "input, *options, **more")
TORCH.add("fold", blocks.block("nxx", "xx", change=1), "input, *options, **more")
TORCH.add("grid_sample", blocks.sampled, "input, grid, *options, **more")
TORCH.add("affine_grid", blocks.block("nxx"), "theta, size, align_corners=None")
TORCH.add(
    "layer_norm rms_norm",
    blocks.normalized,
    "input, normalized_shape, weight=None, bias=None, eps=None",
)
TORCH.add(
    "group_norm", blocks.block("nxx*"), "input, num_groups, weight=None, bias=None, eps=1e-05"
)
TORCH.add(
    "local_response_norm", blocks.block("nxx*"), "input, size, alpha=0.0001, beta=0.75, k=1.0"
)
TORCH.add(
    "instance_norm",
    blocks.instance_norm,
    "input, running_mean=None, running_var=None, weight=None, bias=None, "
    "use_input_stats=True, momentum=0.1, eps=1e-05",
)
TORCH.add(
    "scaled_dot_product_attention",
    blocks.attention,
    "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, "
    "enable_gqa=False",
)
TORCH.add(
    "embedding_bag",
    blocks.bag,
    "input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, "
    "mode='mean', sparse=False, per_sample_weights=None, include_last_offset=False, "
    "padding_idx=None",
)
TORCH.add(
    "batch_norm",
    blocks.batch_norm,
    "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled",
)
TORCH.add(
    "nn.functional.batch_norm",
    blocks.batch_norm,
    "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, "
    "eps=1e-05",
)
TORCH.add(
    "stft",
    blocks.frames,
    "input, n_fft, hop_length=None, win_length=None, window=None, center=True, "
    "pad_mode='reflect', normalized=False, onesided=None, return_complex=None, "
    "align_to_window=None",
)
TORCH.add("istft", blocks.block("nxx", "xx", change=-1), "input, *options, **more")

# Rows meet others, or the result hangs on all of them.
TORCH.add(
    "bincount histc histogram histogramdd unique unique_consecutive nonzero argwhere multinomial "
    "index_put put take tensordot chain_matmul diag diagflat "
    "masked_scatter lu linalg.lstsq "
    "pca_lowrank svd_lowrank as_strided resize_ resize_as_ "
    "sum_to_size ctc_loss",
    reshaping.nothing_known,
)
# The same on every worker.
TORCH.add(
    "dim ndimension is_floating_point is_complex element_size get_device is_contiguous",
    reshaping.replicated,
    "input",
)
TORCH.add(
    "new_zeros new_ones new_full new_empty new_tensor", reshaping.made_new, "input, *size, **more"
)


def operation(name: str) -> Operation | None:
    """A function of torch by its qualified name."""
    if not name.startswith("torch."):
        return None
    bare = name.removeprefix("torch.")
    short = bare.removeprefix("nn.functional.").removeprefix("Tensor.").removeprefix("functional.")
    return TORCH.find(bare, short)


def method(name: str) -> Operation | None:
    """A method of a tensor; in place it does the same to the tensor itself."""
    found = TORCH.find(f"Tensor.{name}", name)
    if found is None and name.endswith("_") and not name.endswith("__"):
        found = TORCH.find(name.removesuffix("_"))
    return found
