import type { Logger } from 'pino';
import type { FactValues } from '../../../protocol/api/fact-values.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { Fact } from '../../../protocol/statement/vocabulary.ts';
import { type Timestamp, timestampOf, timestampOfConsensus } from '../../../protocol/time.ts';
import type { MirrorClient } from '../../anchoring/ledger/mirror-client.ts';
import type { FactCatalogue } from './fact-catalogue.ts';
import { MirrorReading } from './mirror-reading.ts';

/** No mirror gave a fact in a form that can be read. */
export class FactError extends Error {
  override readonly name = 'FactError';
  readonly fact: Fact;

  constructor(fact: Fact, cause: unknown) {
    super(`no mirror gives ${fact}`, { cause });
    this.fact = fact;
  }
}

/** A fact as a mirror told it at a moment. */
export type FactSnapshot = {
  readonly fact: Fact;
  readonly network: string;
  readonly value: FactValues[Fact];
  /** When the mirror's last answer was here. */
  readonly observedAt: Timestamp;
  readonly window: string | null;
  readonly source: { readonly type: 'mirror-node'; readonly endpoint: string; readonly asOf: Timestamp };
  /** SHA-256 of all that the mirror sent for it, one answer after another. */
  readonly rawHash: Sha256Hash;
};

export interface FactCacheOptions {
  /** Name of the ledger. */
  readonly network: string;
  readonly catalogue: FactCatalogue;
  readonly mirror: Pick<MirrorClient, 'mirrors' | 'text'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Time for one mirror to give a fact, in all its answers. In milliseconds. */
const MIRROR_MS = 6_000;

/**
 * Facts about the ledger, read from its mirrors when they are asked for: one reading at a time of each fact, which
 * serves all who ask for it meanwhile and for its maximal age after. A mirror that cannot be read is passed over.
 */
export class FactCache implements AsyncDisposable {
  readonly #options: FactCacheOptions;
  readonly #known = new Map<Fact, FactSnapshot>();
  readonly #readings = new Map<Fact, Promise<FactSnapshot>>();
  readonly #ending = new AbortController();

  constructor(options: FactCacheOptions) {
    this.#options = options;
  }

  get network(): string {
    return this.#options.network;
  }

  get catalogue(): FactCatalogue {
    return this.#options.catalogue;
  }

  /** Throws `FactError` where no mirror gives it. */
  async snapshot(fact: Fact): Promise<FactSnapshot> {
    const { catalogue, now } = this.#options;
    const known = this.#known.get(fact);
    const age = known === undefined ? Infinity : now() - Date.parse(known.observedAt);
    if (known !== undefined && age >= 0 && age < catalogue[fact].maxAgeSeconds * 1000) return known;
    const reading = this.#readings.get(fact) ?? this.#begin(fact);
    return reading;
  }

  /** Gives up the readings that are under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#readings.values());
  }

  #begin(fact: Fact): Promise<FactSnapshot> {
    const reading = this.#read(fact).finally(() => this.#readings.delete(fact));
    this.#readings.set(fact, reading);
    return reading;
  }

  async #read(fact: Fact): Promise<FactSnapshot> {
    const { mirror, log } = this.#options;
    let failure: unknown;
    for (const url of mirror.mirrors) {
      if (this.#ending.signal.aborted) break;
      try {
        const snapshot = await this.#readFrom(url, fact);
        this.#known.set(fact, snapshot);
        return snapshot;
      } catch (error) {
        failure = error;
        log.warn({ err: error, mirror: url, fact }, 'a mirror does not give a fact');
      }
    }
    throw new FactError(fact, failure);
  }

  async #readFrom(url: string, fact: Fact): Promise<FactSnapshot> {
    const { mirror, catalogue, network, now } = this.#options;
    const entry = catalogue[fact];
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(MIRROR_MS)]);
    const reading = new MirrorReading(mirror, url, signal);
    const { value, asOf } = await entry.read(reading);
    return {
      fact,
      network,
      value,
      observedAt: timestampOf(now()),
      window: entry.window,
      source: { type: 'mirror-node', endpoint: reading.endpoint(entry.path), asOf: timestampOfConsensus(asOf) },
      rawHash: reading.rawHash,
    };
  }
}
