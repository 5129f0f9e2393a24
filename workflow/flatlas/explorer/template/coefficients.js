// Rank coefficients with intervals, as flatlas.statistics.rank_correlation has them. Pure functions of
// arrays; tests/explorer compares them with Python's and SciPy's. The `conventions` are Python's, too.

const UNKNOWN = { value: NaN, low: NaN, high: NaN };

// Kendall's τ of the first two of some variables, given the others, over pairs of points in one
// stratum; with one stratum and nothing given it is τ-b. The interval is that of the jackknife, which
// leaves out one realization with all its pairs. In steps, since pairs may be many.
function* kendall(variables, strata, realizations, conventions) {
  const seeds = numbered(realizations);
  const size = variables.length;
  const products = (size * (size + 1)) / 2;
  // For each pair of seeds the sums, over pairs of points, of products of two signs.
  const sums = new Map();
  const signs = new Float64Array(size);
  // n points of a stratum give n − 1 independent comparisons.
  const compared = [];
  for (const points of grouped(strata)) {
    for (const own of grouped(points.map((point) => seeds[point]))) {
      const seed = seeds[points[own[0]]];
      compared[seed] = (compared[seed] ?? 0) + own.length - 1;
    }
    for (let i = 0; i < points.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [points[i], points[j]];
        const pair = sumsOf(sums, seeds[a], seeds[b], products);
        for (let v = 0; v < size; v++) signs[v] = Math.sign(variables[v][a] - variables[v][b]);
        for (let v = 0, place = 0; v < size; v++) {
          for (let w = v; w < size; w++) pair[place++] += signs[v] * signs[w];
        }
      }
      yield;
    }
  }
  // Seeds of one network each have pairs only between seeds.
  const kept = [...new Set([...sums.keys()].flatMap((key) => [key >> 16, key & 65535]))];
  if (!kept.length) return UNKNOWN;
  kept.sort((a, b) => a - b);
  const left = kept.reduce((sum, seed) => sum + compared[seed], 0) / kept.length - (size - 2);
  // With fewer, least squares can explain everything and leave ±1 or nothing.
  if (size > 2 && left <= 0) return UNKNOWN;
  const without = (seed) => partial(totals(sums, seed, products), size, conventions.nothing);
  const isEnough = left >= conventions.fewestComparisons;
  return withInterval(without(-1), isEnough ? kept.map(without) : [], conventions);
}

function sumsOf(sums, a, b, products) {
  const key = a > b ? a * 65536 + b : b * 65536 + a;
  let found = sums.get(key);
  if (!found) sums.set(key, (found = new Float64Array(products)));
  return found;
}

// The sums over all pairs without the seed that is left out.
function totals(sums, out, products) {
  const total = new Float64Array(products);
  for (const [key, pair] of sums) {
    if (key >> 16 === out || (key & 65535) === out) continue;
    for (let place = 0; place < products; place++) total[place] += pair[place];
  }
  return total;
}

// The correlation of the first two variables, given the rest, from the sums of their products: (0, 0),
// (0, 1), … (1, 1), … If the rest determines a variable, less than `nothing` of it is left.
function partial(sums, size, nothing) {
  const r = Array.from({ length: size }, () => new Float64Array(size));
  for (let v = 0, place = 0; v < size; v++)
    for (let w = v; w < size; w++) r[v][w] = r[w][v] = sums[place++];
  const scale = r.map((row, v) => Math.sqrt(row[v]));
  for (let v = 0; v < size; v++) {
    for (let w = 0; w < size; w++)
      r[v][w] = scale[v] && scale[w] ? r[v][w] / (scale[v] * scale[w]) : 0;
  }
  for (let z = size - 1; z > 1; z--) {
    const left = r[z][z];
    if (left < nothing) continue;
    const row = [...r[z]];
    for (let v = 0; v < size; v++) {
      for (let w = 0; w < size; w++) r[v][w] -= (row[v] * row[w]) / left;
    }
  }
  const isEnough = r[0][0] > nothing && r[1][1] > nothing;
  return isEnough ? r[0][1] / Math.sqrt(r[0][0] * r[1][1]) : NaN;
}

// Spearman's ρ, with mean ranks for ties, and the same interval.
function spearman(x, y, realizations, conventions) {
  const seeds = numbered(realizations);
  const count = Math.max(...seeds, -1) + 1;
  const without = (seed) => {
    const kept = [...seeds.keys()].filter((point) => seeds[point] !== seed);
    return pearson(...[x, y].map((values) => ranks(kept.map((point) => values[point]))));
  };
  const isEnough = x.length / count - 1 >= conventions.fewestComparisons;
  const left = isEnough ? Array.from({ length: count }, (_, seed) => without(seed)) : [];
  return withInterval(without(-1), left, conventions);
}

function ranks(values) {
  const order = [...values.keys()].sort((i, j) => values[i] - values[j]);
  const found = new Float64Array(values.length);
  for (let start = 0, end; start < order.length; start = end) {
    for (end = start; end < order.length && values[order[end]] === values[order[start]]; end++);
    for (let place = start; place < end; place++) found[order[place]] = (start + end + 1) / 2;
  }
  return found;
}

function pearson(x, y) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  let [xx, yy, xy] = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    xx += (x[i] - mx) ** 2;
    yy += (y[i] - my) ** 2;
    xy += (x[i] - mx) * (y[i] - my);
  }
  return xx > 0 && yy > 0 && x.length > 2 ? xy / Math.sqrt(xx * yy) : NaN;
}

// Student's 95 % interval around a coefficient, from its values without each of the realizations.
function withInterval(value, left, { fewestRealizations, students }) {
  const count = left.length;
  if (count < fewestRealizations || !left.every(Number.isFinite)) return { value, low: NaN, high: NaN };
  const mean = left.reduce((sum, one) => sum + one, 0) / count;
  const half =
    students[count] *
    Math.sqrt(((count - 1) / count) * left.reduce((sum, one) => sum + (one - mean) ** 2, 0));
  return { value, low: Math.max(value - half, -1), high: Math.min(value + half, 1) };
}

// Labels as 0, 1, 2, …
function numbered(labels) {
  const numbers = new Map();
  return Array.from(labels, (label) => {
    if (!numbers.has(label)) numbers.set(label, numbers.size);
    return numbers.get(label);
  });
}

// The places of each label.
function grouped(labels) {
  const places = new Map();
  labels.forEach((label, place) => {
    if (!places.has(label)) places.set(label, []);
    places.get(label).push(place);
  });
  return [...places.values()];
}

// All steps at once.
function finished(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
