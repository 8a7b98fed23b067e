import type { Sample } from './fill-forms.ts';

/** Records from all over a store that was filled in stages. */
export class Samples {
  readonly #stages: { readonly end: number; readonly samples: readonly Sample[] }[] = [];
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Some of the records up to the one of number `end`, from the last stage's end on. */
  add(end: number, samples: readonly Sample[]): void {
    if (samples.length > 0) this.#stages.push({ end, samples });
  }

  /** The newest record known; undefined while there is none. */
  get last(): Sample | undefined {
    return this.#stages.at(-1)?.samples.at(-1);
  }

  /** A record at random: each of the store is as likely as any other, as far as the samples stand for them. */
  pick(): Sample {
    const end = this.#stages.at(-1)?.end ?? 0;
    const at = this.#random() * end;
    const stage = this.#stages.find((candidate) => at < candidate.end);
    const sample = stage?.samples[Math.floor(this.#random() * stage.samples.length)];
    if (sample === undefined) throw new RangeError('no samples');
    return sample;
  }
}
