import type { JsonValue } from '../../protocol/json/value.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import type { Random } from '../fuzz/random.ts';
import { placesOf, replaceAt } from '../protocol/verdict/json-places.ts';
import type { Corpus } from './corpus.ts';

/** Makes the text of a bundle out of one. */
export type Mutation = (random: Random, corpus: Corpus, bundle: Bundle) => Promise<string> | string;

const CHARACTERS = [...'0123456789abcdefABCDEFxyzXYZ-_:"{}[],. \\\u0000é😀'];
const PARTS = ['record', 'receipt', 'batch', 'decision', 'checkpoints', 'keys', 'revocations', 'rosters'] as const;

/** What is still whole: as it was made, with less of it, or in another order. */
export const WHOLE: Readonly<Record<string, Mutation>> = {
  untouched: (_random, _corpus, bundle) => JSON.stringify(bundle),
  withheld: (_random, _corpus, { disclosure: _disclosed, ...bundle }) => JSON.stringify(bundle),
  'public proof': (_random, _corpus, { disclosure: _disclosed, ...bundle }) =>
    JSON.stringify({ ...bundle, record: { ...bundle.record, body: null } }),
  shuffled: (random, _corpus, bundle) => {
    const { checkpoints, keys, revocations } = bundle;
    return JSON.stringify({
      ...bundle,
      checkpoints: shuffled(random, checkpoints),
      keys: shuffled(random, keys),
      revocations: shuffled(random, revocations),
    });
  },
  'fewer checkpoints': (random, _corpus, bundle) =>
    JSON.stringify({ ...bundle, checkpoints: someOf(random, bundle.checkpoints) }),
};

/** Changes that need no key: bytes, values, parts of other bundles. */
export const KEYLESS: Readonly<Record<string, Mutation>> = {
  'a byte': (random, _corpus, bundle) => {
    const text = JSON.stringify(bundle);
    const at = random.int(text.length);
    return (text.slice(0, at) + random.pick(CHARACTERS) + text.slice(at + 1)).toWellFormed();
  },
  'a character of a string': (random, _corpus, bundle) => {
    const strings = placesOf(bundle).filter(({ value }) => typeof value === 'string' && value.length > 0);
    const { pointer, value } = random.pick(strings);
    const at = random.int(String(value).length);
    const changed = String(value).slice(0, at) + random.pick(CHARACTERS) + String(value).slice(at + 1);
    return JSON.stringify(replaceAt(bundle, pointer, changed)).toWellFormed();
  },
  'a value': (random, corpus, bundle) => {
    const { pointer, value } = random.pick(placesOf(bundle));
    const other = random.pick(placesOf(random.pick([bundle, random.pick(corpus.bundles)]))).value;
    const doubled: JsonValue = Array.isArray(value) ? [...value, ...value] : value;
    const changes = [undefined, null, [], {}, doubled, other];
    return JSON.stringify(replaceAt(bundle, pointer, changes[random.int(changes.length)]));
  },
  'a part of another bundle': (random, corpus, bundle) =>
    JSON.stringify({ ...bundle, ...partsOf(random, random.pick(corpus.bundles)) }),
  'a part of another federation': (random, corpus, bundle) =>
    JSON.stringify({ ...bundle, ...partsOf(random, random.pick(corpus.foreign)) }),
  'another federation': (random, corpus) => JSON.stringify(random.pick(corpus.foreign)),
  'old checkpoints': (random, corpus, bundle) => {
    const older = random.pick(corpus.bundles).checkpoints;
    return JSON.stringify({ ...bundle, checkpoints: [...someOf(random, bundle.checkpoints), ...older] });
  },
  'mixed rosters': (random, corpus, bundle) => {
    const others = random.pick([...corpus.bundles, ...corpus.foreign]).rosters;
    const [first] = bundle.rosters;
    const rosters = random.pick([shuffled(random, bundle.rosters), others, [first, ...others.slice(1)]]);
    return JSON.stringify({ ...bundle, rosters });
  },
  'without revocations': (random, _corpus, bundle) =>
    JSON.stringify({ ...bundle, revocations: someOf(random, bundle.revocations) }),
  'less of the decision': (_random, _corpus, bundle) =>
    JSON.stringify({ ...bundle, decision: null, ...(bundle.checkpoints.length % 2 === 0 ? { batch: null } : {}) }),
  'linked records': (random, corpus, bundle) => {
    const linked = Array.from({ length: 1 + random.int(3) }, () => linkable(random.pick(corpus.bundles)));
    return JSON.stringify({ ...bundle, linked });
  },
};

function linkable({ record, receipt, batch, decision, disclosure }: Bundle) {
  return { record, receipt, batch, decision, ...(disclosure === undefined ? {} : { disclosure }) };
}

function partsOf(random: Random, other: Bundle): Partial<Bundle> {
  const wanted = Array.from({ length: 1 + random.int(3) }, () => random.pick(PARTS));
  return Object.fromEntries(wanted.map((part) => [part, other[part]]));
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  const keyed = items.map((item) => ({ item, key: random.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

/** Some of a list, in its order: any number of them. */
export function someOf<Item>(random: Random, items: readonly Item[]): Item[] {
  const keep = random.next();
  return items.filter(() => random.chance(keep));
}
