// The rules of spacy_crf/core/sets/predict.py. Probabilities are of all labels, in their order; what comes back are the
// places of the labels in a set, the most probable first.
const TIE = 1e-6;

function rank(probabilities) {
  return probabilities.map((_, place) => place).sort((one, other) => probabilities[other] - probabilities[one] || one - other);
}

function cumulate(probabilities, ranked) {
  let mass = 0;
  return ranked.map((place) => (mass += probabilities[place]));
}

// the set of greatest expected utility g(s) = 1 - alpha ((s - 1) / (L - 1)) ^ beta, the smallest of equal ones
function utilitySet(probabilities, alpha, beta) {
  const ranked = rank(probabilities), last = Math.max(1, ranked.length - 1);
  const values = cumulate(probabilities, ranked).map((mass, size) => mass * (size ? 1 - alpha * (size / last) ** beta : 1));
  const best = Math.max(...values);
  return ranked.slice(0, values.findIndex((value) => value >= best - TIE) + 1);
}

// the smallest set that has a probability
function massSet(probabilities, mass) {
  const ranked = rank(probabilities);
  const size = cumulate(probabilities, ranked).findIndex((value) => value >= mass - TIE);
  return size < 0 ? ranked : ranked.slice(0, size + 1);
}
