/* Training of dense ReLU nets on one core, from the nonzero pixels of their images.

   An activity is a list of its nonzero entries (unit, value). The forward pass of an image sums the
   rows of weights that its entries name, times their values. The backward pass adds the image's
   deltas, times those values, to the same rows of the gradient. A bias is an additional row of
   weights, whose unit is 1 in every list.

   Rows are padded with zeros to whole vectors; the padding stays zero.

   flatlas.training.kernel defines on the command line what both sides must agree on: REAL (float, or
   double to test against) and its REAL_BITS, PADDED, RULES, PENALTIES, SLOTS, NUMBERS and the sizes
   of the structures. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* GCC splits vectors wider than the processor's into single numbers, which is far slower. */
#if defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
#define LANES ((int64_t)(BYTES / sizeof(real)))
/* Vectors of one sum; with the factors and rows they fill the sixteen registers. */
#define BLOCK 8

typedef REAL real;
typedef real vec __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));
/* `bits` are a number's bits; unsigned, as their sums overflow. */
#if REAL_BITS == 32
typedef uint32_t bits;
#define MANTISSA 23
#define TERMS 7
#define LEAST -87
#else
typedef uint64_t bits;
#define MANTISSA 52
#define TERMS 13
#define LEAST -708
#endif
typedef bits vec_bits __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));

typedef struct {
    int32_t unit;
    real value;
} entry;

typedef struct {
    const entry *entries;
    int64_t count;
} list;

/* `step` shows which slots a rule has for each weight, and what its numbers are. GRADIENT makes no
   step but leaves the gradient in the first slot. */
enum rule { RULES };
enum penalty { PENALTIES };

typedef struct {
    int64_t inputs, outputs; /* without the bias */
    int64_t bias;            /* 1 if there is one */
    int64_t moves;           /* 0 if no step changes it */
    int64_t offset;          /* where its first row begins in a member's padded numbers */
    double kept;             /* the share of its outputs that dropout keeps; 1 without dropout */
} layer;

typedef struct {
    int64_t layers;
    const layer *layer;
} net;

typedef struct {
    const int64_t *starts; /* where each image begins, and where the last ends */
    const entry *entries;
    const int64_t *image; /* the image of each sample of the member */
    const int64_t *labels;
} samples;

typedef struct {
    int64_t rule, penalty;
    double lr, coefficient;
    double numbers[NUMBERS];
    int64_t steps; /* taken before */
    real *weights;
    real *slots[SLOTS];
    int64_t noisy;           /* 1 if a step takes a normal number for each weight that moves */
    uint64_t seed, position; /* of this noise */
} descent;

_Static_assert(PADDED % LANES == 0, "a padded row is whole vectors");
_Static_assert(sizeof(layer) == LAYER_BYTES, "Layer in kernel.py");
_Static_assert(sizeof(net) == NET_BYTES, "Net in kernel.py");
_Static_assert(sizeof(samples) == SAMPLES_BYTES, "Images in kernel.py");
_Static_assert(sizeof(descent) == DESCENT_BYTES, "Descent in kernel.py");

static int64_t padded(int64_t width)
{
    return (width + PADDED - 1) / PADDED * PADDED;
}

/* The outputs that need a random number for each image. */
static int64_t dropped(const layer *one) { return one->kept < 1 ? one->outputs : 0; }

static int64_t larger(int64_t one, int64_t other) { return one > other ? one : other; }
static int64_t smaller(int64_t one, int64_t other) { return one < other ? one : other; }

/* ---- Treat denormal numbers as zero within a call: they slow every product ---- */

#if defined(__SSE__)
static uint64_t flush_denormals(void)
{
    uint64_t before = _mm_getcsr();
    _mm_setcsr((unsigned)before | 0x8040u);
    return before;
}
static void restore_denormals(uint64_t before) { _mm_setcsr((unsigned)before); }
#elif defined(__aarch64__)
static uint64_t flush_denormals(void)
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | (1ull << 24)));
    return before;
}
static void restore_denormals(uint64_t before)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
#else
static uint64_t flush_denormals(void) { return 0; }
static void restore_denormals(uint64_t before) { (void)before; }
#endif

/* ---- Weighted sums of rows ---- */

/* `n` is a constant wherever this is inlined, which keeps the sums in registers. Narrow sums process
   two entries at a time: otherwise each addition would wait for the one before. */
static inline __attribute__((always_inline)) void block_sum(
    const int n, list terms, const real *rows, int64_t stride, real *out)
{
    vec even[BLOCK], odd[BLOCK];
    const entry *e = terms.entries, *end = e + terms.count;
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        even[k] = odd[k] = (vec){0};
    if (n <= BLOCK / 2)
        for (; e + 1 < end; e += 2) {
            const vec *one = (const vec *)(rows + e[0].unit * stride);
            const vec *two = (const vec *)(rows + e[1].unit * stride);
#pragma GCC unroll 8
            for (int k = 0; k < n; k++) {
                even[k] += e[0].value * one[k];
                odd[k] += e[1].value * two[k];
            }
        }
    for (; e < end; e++) {
        const vec *one = (const vec *)(rows + e->unit * stride);
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            even[k] += e->value * one[k];
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        ((vec *)out)[k] = even[k] + odd[k];
}

/* rows[unit] += value * row over the entries of a list; `n` as above. */
static inline __attribute__((always_inline)) void block_add(
    const int n, list terms, const real *row, real *rows, int64_t stride)
{
    vec added[BLOCK];
#pragma GCC unroll 8
    for (int k = 0; k < n; k++)
        added[k] = ((const vec *)row)[k];
    for (const entry *e = terms.entries, *end = e + terms.count; e < end; e++) {
        vec *one = (vec *)(rows + e->unit * stride);
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            one[k] += e->value * added[k];
    }
}

/* out = sum of value * rows[unit] over the entries of a list. */
static void sum_rows(list terms, const real *rows, int64_t stride, real *out)
{
    int64_t left = stride / LANES;
    for (; left > 0; left -= BLOCK, rows += BLOCK * LANES, out += BLOCK * LANES)
        switch (left) {
        case 1: block_sum(1, terms, rows, stride, out); break;
        case 2: block_sum(2, terms, rows, stride, out); break;
        case 3: block_sum(3, terms, rows, stride, out); break;
        case 4: block_sum(4, terms, rows, stride, out); break;
        case 5: block_sum(5, terms, rows, stride, out); break;
        case 6: block_sum(6, terms, rows, stride, out); break;
        case 7: block_sum(7, terms, rows, stride, out); break;
        default: block_sum(BLOCK, terms, rows, stride, out);
        }
}

/* rows[unit] += value * row over the entries of a list. */
static void add_row(list terms, const real *row, real *rows, int64_t stride)
{
    int64_t left = stride / LANES;
    for (; left > 0; left -= BLOCK, rows += BLOCK * LANES, row += BLOCK * LANES)
        switch (left) {
        case 1: block_add(1, terms, row, rows, stride); break;
        case 2: block_add(2, terms, row, rows, stride); break;
        case 3: block_add(3, terms, row, rows, stride); break;
        case 4: block_add(4, terms, row, rows, stride); break;
        case 5: block_add(5, terms, row, rows, stride); break;
        case 6: block_add(6, terms, row, rows, stride); break;
        case 7: block_add(7, terms, row, rows, stride); break;
        default: block_add(BLOCK, terms, row, rows, stride);
        }
}

/* 1 where x is not 0 (also for NaN): some bit other than the sign is set. */
static inline int64_t is_nonzero(real x)
{
    bits all;
    memcpy(&all, &x, sizeof all);
    return (bits)(all + all) != 0;
}

/* The entries that are not zero. */
static int64_t nonzero(const real *values, int64_t count, entry *entries)
{
    int64_t found = 0;
    for (int64_t k = 0; k < count; k++) {
        entries[found] = (entry){(int32_t)k, values[k]};
        found += is_nonzero(values[k]);
    }
    return found;
}

/* ---- Losses ---- */

/* e^x for x <= 0, in place, `count` numbers of whole vectors; below the least normal number it is 0. */
static void exponentials(real *x, int64_t count)
{
    const real log2e = (real)1.4426950408889634, shift = (real)(3LL << (MANTISSA - 1));
    /* ln 2 in two parts; the first has so few digits that its products are exact. */
    const real ln2 = (real)(REAL_BITS == 32 ? 0.693359375 : 0.693147180369123816490);
    const real rest = (real)(REAL_BITS == 32 ? -2.12194440054690583e-4 : 1.90821492927058770e-10);
    const bits one = (bits)((1LL << (sizeof(real) * 8 - MANTISSA - 2)) - 1);
    for (int64_t k = 0; k < count; k += LANES) {
        vec value = *(vec *)(x + k), shifted = value * log2e + shift, whole = shifted - shift;
        vec fraction = (value - whole * ln2) - whole * rest, sum = fraction * 0 + 1;
#pragma GCC unroll 16
        for (int term = TERMS; term > 0; term--)
            sum = sum * fraction * (real)(1.0 / term) + 1;
        /* The last digits of `shifted` are the exponent. */
        vec power = (vec)(((vec_bits)shifted + one) << MANTISSA);
        vec_bits none = (vec_bits)(value < (vec){0} + (real)LEAST);
        *(vec *)(x + k) = (vec)((vec_bits)(sum * power) & ~none);
    }
}

typedef struct {
    real loss;
    int64_t wrong;
} verdict;

/* Logits become their loss and, in place, the derivative of the loss. 1 is not subtracted from a
   probability near 1: of a sure net that would leave nothing. */
static verdict binary(real *logit, int64_t label)
{
    real z = *logit, small = exp(-fabs(z)), wrong = ((z > 0) != label ? 1 : small) / (1 + small);
    *logit = label ? -wrong : wrong;
    return (verdict){(z > 0 ? z : 0) - z * (real)label + log1p(small), (z > 0) != label};
}

static verdict cross_entropy(real *logits, int64_t classes, int64_t label)
{
    int64_t best = 0, stride = padded(classes);
    for (int64_t k = 1; k < classes; k++)
        if (logits[k] > logits[best])
            best = k;
    real largest = logits[best], correct = logits[label], others = 0;
    for (int64_t k = 0; k < classes; k++)
        logits[k] -= largest;
    for (int64_t k = classes; k < stride; k++)
        logits[k] = LEAST - 1;
    exponentials(logits, stride);
    for (int64_t k = 0; k < classes; k++)
        others += k == best ? logits[k] - 1 : logits[k];
    for (int64_t k = 0; k < classes; k++)
        logits[k] /= 1 + others;
    logits[label] = best == label ? -others / (1 + others) : logits[label] - 1;
    return (verdict){log1p(others) + (largest - correct), best != label};
}

static verdict judged(real *logits, int64_t classes, int64_t label)
{
    return classes == 1 ? binary(logits, label) : cross_entropy(logits, classes, label);
}

/* ---- Noise: the numbers that flatlas.training.noise describes ---- */

/* Pairs made at a time. Each loop over them becomes vectors, whose operations overlap. */
#define PAIRS 64

static inline float as_float(uint32_t all)
{
    float x;
    memcpy(&x, &all, sizeof x);
    return x;
}

static inline uint32_t as_bits(float x)
{
    uint32_t all;
    memcpy(&all, &x, sizeof all);
    return all;
}

static inline uint64_t mixed(uint64_t word)
{
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ word >> 27) * 0x94d049bb133111ebull;
    return word ^ word >> 31;
}

/* The logarithm of x, from a power of 2 and a rest between the roots of 1/2 and 2. */
static inline float logarithm(float x)
{
    const uint32_t root = 0x3f3504f3; /* of 1/2 */
    int32_t power = (int32_t)(as_bits(x) - root) >> 23;
    float rest = as_float(as_bits(x) - ((uint32_t)power << 23));
    float ratio = (rest - 1) / (rest + 1), square = ratio * ratio;
    float sum = 2 / 7.f + square * (2 / 9.f);
    sum = 2 + square * (2 / 3.f + square * (2 / 5.f + square * sum));
    return (float)power * 0.693147181f + ratio * sum;
}

/* The cosine and sine of so many steps of 2^32 a turn, from a number of right angles and a rest. */
static inline void circle(uint32_t steps, float *cosine, float *sine)
{
    uint32_t shifted = steps + (1u << 29), quarter = shifted >> 30;
    float rest = (as_float((shifted >> 7 & 0x7fffff) | 0x3f800000) - 1.5f) * 1.57079633f;
    float square = rest * rest;
    float c = 1 / 40320.f - square * (1 / 3628800.f), s = -1 / 5040.f + square * (1 / 362880.f);
    c = 1 - square * (1 / 2.f - square * (1 / 24.f - square * (1 / 720.f - square * c)));
    s = rest * (1 - square * (1 / 6.f - square * (1 / 120.f + square * s)));
    uint32_t swap = (as_bits(c) ^ as_bits(s)) & -(quarter & 1);
    *cosine = as_float(as_bits(c) ^ swap ^ ((quarter + 1) & 2) << 30);
    *sine = as_float(as_bits(s) ^ swap ^ (quarter & 2) << 30);
}

static int64_t pairs_of(int64_t count) { return (count + 1) / 2; }

/* The numbers that `Noise(seed)` draws at a position. */
void normal_numbers(uint64_t seed, uint64_t position, int64_t count, float *out)
{
    uint32_t high[PAIRS], low[PAIRS];
    float radius[PAIRS], cosines[PAIRS], sines[PAIRS];
    const uint64_t increment = 0x9e3779b97f4a7c15ull;
    uint64_t state = seed + (position + 1) * increment;
    int64_t pairs = pairs_of(count);
    for (int64_t begin = 0; begin < pairs; begin += PAIRS) {
        for (int64_t k = 0; k < PAIRS; k++, state += increment) {
            uint64_t word = mixed(state);
            high[k] = (uint32_t)(word >> 32);
            low[k] = (uint32_t)word;
        }
        for (int64_t k = 0; k < PAIRS; k++) {
            float uniform = ((float)(int32_t)(high[k] >> 9) + 0.5f) * 0x1p-23f;
            radius[k] = sqrtf(-2 * logarithm(uniform));
        }
        for (int64_t k = 0; k < PAIRS; k++) {
            circle(low[k], &cosines[k], &sines[k]);
            cosines[k] *= radius[k];
            sines[k] *= radius[k];
        }
        memcpy(out + begin, cosines, smaller(PAIRS, pairs - begin) * sizeof(float));
        memcpy(out + pairs + begin, sines, smaller(PAIRS, count - pairs - begin) * sizeof(float));
    }
}

/* ---- Memory of a call, allocated once ---- */

typedef struct {
    list *lists;       /* for each image the input of the layer */
    entry *entries;    /* of those lists, except the first layer's */
    real *activity;    /* for each image the output; at the top, the derivative of the loss */
    real *delta;
} batch_layer;

typedef struct {
    char *memory;
    int64_t taken;
} arena;

/* The next part of the memory; only counts the bytes while there is no memory. */
static void *take(arena *from, int64_t bytes)
{
    void *here = from->memory ? from->memory + from->taken : NULL;
    from->taken += (bytes + 63) / 64 * 64;
    return here;
}

typedef struct {
    batch_layer *layer;
    real *transposed; /* weights of one layer */
    real *gradient;   /* of one layer */
    float *noise;     /* of a step: for each weight that moves, without padding */
    float *spread;    /* of one layer, with padding */
    entry *deltas;    /* of one image and layer */
    int64_t moving;   /* how many weights steps change */
} workspace;

static workspace divide(arena *from, const net *n, int64_t batch)
{
    workspace w;
    int64_t widest = 0, transposed = 0, gradient = 0;
    w.moving = 0;
    w.layer = take(from, n->layers * sizeof(batch_layer));
    for (int64_t l = 0; l < n->layers; l++) {
        const layer *one = &n->layer[l];
        int64_t in = one->inputs + one->bias, out = padded(one->outputs);
        batch_layer made = {
            take(from, batch * sizeof(list)),
            take(from, l ? batch * in * sizeof(entry) : 0),
            take(from, batch * out * sizeof(real)),
            take(from, batch * out * sizeof(real)),
        };
        if (w.layer)
            w.layer[l] = made;
        widest = larger(widest, one->outputs);
        gradient = larger(gradient, in * out);
        w.moving += one->moves ? in * one->outputs : 0;
        if (l)
            transposed = larger(transposed, padded(one->inputs) * one->outputs);
    }
    w.transposed = take(from, transposed * sizeof(real));
    w.gradient = take(from, gradient * sizeof(real));
    w.noise = take(from, w.moving * sizeof(float));
    w.spread = take(from, gradient * sizeof(float));
    w.deltas = take(from, widest * sizeof(entry));
    return w;
}

static arena memory_for(const net *n, int64_t batch)
{
    arena all = {NULL, 0};
    divide(&all, n, batch);
    return (arena){aligned_alloc(64, all.taken), 0};
}

/* ---- Forward ---- */

/* The output of a layer. `draws` are random numbers for dropout, or NULL. */
static void hidden_activity(const layer *one, real *z, const float *draws)
{
    float kept = (float)one->kept;
    for (int64_t k = 0; k < one->outputs; k++) {
        z[k] = z[k] < 0 ? 0 : z[k];
        if (draws)
            z[k] *= draws[k] < kept ? 1 / (real)one->kept : 0;
    }
}

static list listed(const layer *above, const real *activity, entry *entries)
{
    int64_t count = nonzero(activity, above->inputs, entries);
    if (above->bias)
        entries[count++] = (entry){(int32_t)above->inputs, 1};
    return (list){entries, count};
}

/* Activities of image i of a minibatch, whose lists[i] of the first layer is already set. `draws`
   has the random numbers of each layer with dropout, image by image; without any it is NULL. */
static void forward(
    const net *n, const real *weights, const workspace *w, int64_t i, int64_t batch,
    const float *draws)
{
    for (int64_t l = 0; l < n->layers; l++) {
        const layer *one = &n->layer[l];
        int64_t stride = padded(one->outputs);
        real *z = w->layer[l].activity + i * stride;
        sum_rows(w->layer[l].lists[i], weights + one->offset, stride, z);
        if (l + 1 == n->layers)
            return;
        int64_t drops = draws && dropped(one);
        hidden_activity(one, z, drops ? draws + i * one->outputs : NULL);
        if (drops)
            draws += batch * one->outputs;
        const layer *above = one + 1;
        entry *entries = w->layer[l + 1].entries + i * (above->inputs + above->bias);
        w->layer[l + 1].lists[i] = listed(above, z, entries);
    }
}

/* ---- Backward, and the step ---- */

/* From the deltas of the output of layer l, those of the output of the layer below. */
static void backward(
    const net *n, const real *weights, const workspace *w, int64_t l, int64_t batch)
{
    const layer *one = &n->layer[l];
    int64_t in = padded(one->inputs), out = padded(one->outputs);
    const real *rows = weights + one->offset;
    memset(w->transposed, 0, in * one->outputs * sizeof(real));
    for (int64_t j = 0; j < one->inputs; j++)
        for (int64_t k = 0; k < one->outputs; k++)
            w->transposed[k * in + j] = rows[j * out + k];
    for (int64_t i = 0; i < batch; i++) {
        const real *activity = w->layer[l - 1].activity + i * in;
        real *delta = w->layer[l - 1].delta + i * in;
        int64_t count = nonzero(w->layer[l].delta + i * out, one->outputs, w->deltas);
        sum_rows((list){w->deltas, count}, w->transposed, in, delta);
        real scale = 1 / (real)n->layer[l - 1].kept;
        for (int64_t j = 0; j < in; j++)
            delta[j] = activity[j] > 0 ? delta[j] * scale : 0;
    }
}

typedef struct {
    real lr, first, second, decay; /* decay: the penalty's gradient, by weight */
    real numbers[NUMBERS];
} factors;

/* The step of `count` weights w with gradient g. `numbers` are those of the optimizer's spec, in the
   order of its module. */
static void step(
    int64_t rule, const factors *f, int64_t count, real *restrict w, real *restrict s,
    real *restrict t, real *restrict g, const float *restrict noise)
{
    const real lr = f->lr, *p = f->numbers;
    if (f->decay != 0)
        for (int64_t k = 0; k < count; k++)
            g[k] += f->decay * w[k];
    switch (rule) {
    case SGD:
        for (int64_t k = 0; k < count; k++)
            w[k] -= lr * g[k];
        break;
    case MOMENTUM: /* s: velocity. p: momentum */
        for (int64_t k = 0; k < count; k++) {
            s[k] = p[0] * s[k] + g[k];
            w[k] -= lr * s[k];
        }
        break;
    case NESTEROV:
        for (int64_t k = 0; k < count; k++) {
            s[k] = p[0] * s[k] + g[k];
            w[k] -= lr * (g[k] + p[0] * s[k]);
        }
        break;
    case ADAM: /* s, t: means of the gradient and of its square. p: betas, epsilon, decay */
    case ADAMW:
        for (int64_t k = 0; k < count; k++) {
            real old = rule == ADAMW ? w[k] * (1 - lr * p[3]) : w[k];
            s[k] += (1 - p[0]) * (g[k] - s[k]);
            t[k] = p[1] * t[k] + (1 - p[1]) * g[k] * g[k];
            w[k] = old - f->first * s[k] / (sqrt(t[k]) * f->second + p[2]);
        }
        break;
    case RMSPROP: /* s: mean of the square. p: smoothing, epsilon */
        for (int64_t k = 0; k < count; k++) {
            s[k] = p[0] * s[k] + (1 - p[0]) * g[k] * g[k];
            w[k] -= lr * g[k] / (sqrt(s[k]) + p[1]);
        }
        break;
    case ADAGRAD: /* s: sum of squares. p: epsilon */
        for (int64_t k = 0; k < count; k++) {
            s[k] += g[k] * g[k];
            w[k] -= lr * g[k] / (sqrt(s[k]) + p[0]);
        }
        break;
    case ENTROPY_SGD: /* s: outer weights, t: mean. p: gamma, inner rate, noise, averaging */
        for (int64_t k = 0; k < count; k++) {
            real pull = g[k] + p[0] * (w[k] - s[k]);
            w[k] += f->first * noise[k] - p[1] * pull;
            t[k] += (1 - p[3]) * (w[k] - t[k]);
        }
        if (f->second != 0) /* the last inner step of a round */
            for (int64_t k = 0; k < count; k++) {
                s[k] -= lr * (s[k] - t[k]);
                w[k] = t[k] = s[k];
            }
    }
}

static double norm(const net *n, const real *weights)
{
    double squares = 0;
    for (int64_t l = 0; l < n->layers; l++) {
        const layer *one = &n->layer[l];
        int64_t stride = padded(one->outputs);
        for (int64_t j = 0; j < one->inputs + one->bias; j++) {
            const real *row = weights + one->offset + j * stride;
            real sum = 0;
            for (int64_t k = 0; k < one->outputs; k++)
                sum += row[k] * row[k];
            squares += sum;
        }
    }
    return sqrt(squares);
}

static factors of_step(const net *n, const descent *d, int64_t made)
{
    factors f = {.lr = (real)d->lr};
    for (int k = 0; k < NUMBERS; k++)
        f.numbers[k] = (real)d->numbers[k];
    double decay = d->coefficient;
    if (d->penalty == UNSQUARED) {
        double length = norm(n, d->weights);
        decay /= length > 1.1754943508222875e-38 ? length : 1.1754943508222875e-38;
    }
    f.decay = d->penalty == NONE ? 0 : (real)decay;
    if (d->rule == ADAM || d->rule == ADAMW) {
        /* Of the rounded betas, which the means have: near 1, 1 - beta loses many digits. */
        double number = (double)(d->steps + made + 1);
        f.first = (real)(d->lr / (1 - pow((double)f.numbers[0], number)));
        f.second = (real)(1 / sqrt(1 - pow((double)f.numbers[1], number)));
    }
    if (d->rule == ENTROPY_SGD) {
        int64_t round = (int64_t)d->numbers[4];
        f.first = (real)(sqrt(d->numbers[1]) * d->numbers[2]);
        f.second = (d->steps + made + 1) % round == 0;
    }
    return f;
}

/* The gradient of one layer, and its step. */
static void step_layer(const net *n, const workspace *w, int64_t l, int64_t batch,
    const descent *d, const factors *f, const float *noise)
{
    const layer *one = &n->layer[l];
    const batch_layer *made = &w->layer[l];
    int64_t stride = padded(one->outputs), units = one->inputs + one->bias;
    real *weights = d->weights + one->offset;
    real *first = d->slots[0] ? d->slots[0] + one->offset : NULL;
    real *second = d->slots[1] ? d->slots[1] + one->offset : NULL;
    real *g = d->rule == GRADIENT ? first : w->gradient;
    memset(g, 0, units * stride * sizeof(real));
    for (int64_t i = 0; i < batch; i++)
        add_row(made->lists[i], made->delta + i * stride, g, stride);
    if (d->rule == GRADIENT)
        return;
    if (noise) {
        memset(w->spread, 0, units * stride * sizeof(float));
        for (int64_t j = 0; j < units; j++, noise += one->outputs)
            memcpy(w->spread + j * stride, noise, one->outputs * sizeof(float));
    }
    step(d->rule, f, units * stride, weights, first, second, g, w->spread);
}

static list of_image(const samples *s, int64_t sample)
{
    const int64_t *start = s->starts + s->image[sample];
    return (list){s->entries + start[0], start[1] - start[0]};
}

/* Fetch a list into the cache while another one is processed: shuffled images lie far apart. */
static void fetch(list terms)
{
    for (int64_t k = 0; k < terms.count; k += 64 / (int64_t)sizeof(entry))
        __builtin_prefetch(terms.entries + k);
}

static void minibatch(const net *n, const workspace *w, const samples *s, const int64_t *chosen,
    int64_t batch, const float *draws, const descent *d, const factors *f, int64_t made)
{
    const int64_t last = n->layers - 1, classes = n->layer[last].outputs;
    const int64_t stride = padded(classes);
    for (int64_t i = 0; i < batch; i++)
        w->layer[0].lists[i] = of_image(s, chosen[i]);
    for (int64_t i = 0; i < batch; i++) {
        if (i + 1 < batch)
            fetch(w->layer[0].lists[i + 1]);
        forward(n, d->weights, w, i, batch, draws);
        real *delta = w->layer[last].delta + i * stride;
        memcpy(delta, w->layer[last].activity + i * stride, stride * sizeof(real));
        judged(delta, classes, s->labels[chosen[i]]);
        for (int64_t k = 0; k < stride; k++)
            delta[k] = k < classes ? delta[k] / (real)batch : 0;
    }
    int64_t lowest = 0;
    while (lowest < last && !n->layer[lowest].moves)
        lowest++;
    for (int64_t l = last; l > lowest; l--)
        backward(n, d->weights, w, l, batch);
    const float *noise = d->noisy ? w->noise : NULL;
    if (noise)
        normal_numbers(d->seed, d->position + made * pairs_of(w->moving), w->moving, w->noise);
    for (int64_t l = lowest; l <= last; l++) {
        const layer *one = &n->layer[l];
        if (!one->moves)
            continue;
        step_layer(n, w, l, batch, d, f, noise);
        if (noise)
            noise += (one->inputs + one->bias) * one->outputs;
    }
}

/* ---- Functions called from Python ---- */

/* Weights of one layer, without padding or bias. */
static void record(const layer *one, const real *weights, float *into)
{
    int64_t stride = padded(one->outputs);
    for (int64_t j = 0; j < one->inputs; j++)
        for (int64_t k = 0; k < one->outputs; k++)
            *into++ = (float)weights[one->offset + j * stride + k];
}

/* Minibatch steps through `count` chosen samples, `batch` at a time; the last may have fewer.

   `draws` are uniform numbers for dropout (step, layer, image, unit), or NULL. After each step the
   weights of layer `recorded` are written to `records`, unless that is NULL. Returns 0, or 1 if there
   is not enough memory. */
int descend(const net *n, const samples *s, const int64_t *chosen, int64_t count, int64_t batch,
    const float *draws, const descent *d, int64_t recorded, float *records)
{
    if (batch > count)
        batch = count;
    arena all = memory_for(n, batch);
    if (!all.memory)
        return 1;
    workspace w = divide(&all, n, batch);
    uint64_t before = flush_denormals();
    const layer *kept = &n->layer[recorded];
    int64_t units = 0;
    for (int64_t l = 0; l + 1 < n->layers; l++)
        units += dropped(&n->layer[l]);
    for (int64_t begin = 0, made = 0; begin < count; begin += batch, made++) {
        int64_t size = count - begin < batch ? count - begin : batch;
        factors f = of_step(n, d, made);
        minibatch(n, &w, s, chosen + begin, size, draws, d, &f, made);
        if (draws)
            draws += size * units;
        if (records) {
            record(kept, d->weights, records);
            records += kept->inputs * kept->outputs;
        }
    }
    restore_denormals(before);
    free(all.memory);
    return 0;
}

/* Sum of the losses, and number of misclassified samples, over those of `count` samples with
   counts[i] != 0 (over all if it is NULL). Returns the same as `descend`. */
int evaluate(const net *n, const samples *s, int64_t count, const uint8_t *counts,
    const real *weights, double *losses, int64_t *wrong)
{
    arena all = memory_for(n, 1);
    if (!all.memory)
        return 1;
    workspace w = divide(&all, n, 1);
    uint64_t before = flush_denormals();
    const int64_t last = n->layers - 1;
    *losses = 0;
    *wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        if (counts && !counts[i])
            continue;
        w.layer[0].lists[0] = of_image(s, i);
        forward(n, weights, &w, 0, 1, NULL);
        verdict one = judged(w.layer[last].activity, n->layer[last].outputs, s->labels[i]);
        *losses += one.loss;
        *wrong += one.wrong;
    }
    restore_denormals(before);
    free(all.memory);
    return 0;
}

/* The lists of `count` images, one after another in `entries`, each with a bias entry if `bias` is 1.
   `entries` has room for all nonzero pixels and biases, and for one more entry. */
void compress(const float *pixels, int64_t count, int64_t size, int64_t bias, entry *entries,
    int64_t *starts)
{
    int64_t found = 0;
    starts[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < size; k++, pixels++) {
            entries[found] = (entry){(int32_t)k, (real)*pixels};
            found += is_nonzero((real)*pixels);
        }
        if (bias)
            entries[found++] = (entry){(int32_t)size, 1};
        starts[i + 1] = found;
    }
}
