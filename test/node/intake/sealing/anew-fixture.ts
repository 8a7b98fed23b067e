import { join } from 'node:path';
import { pino } from 'pino';
import { type Resigning, Sealer } from '../../../../node/intake/sealing/sealer.ts';
import { nativeSigner } from '../../../../node/keys/native-suite.ts';
import type { StoredBatch } from '../../../../node/records/batch-tables.ts';
import type { CommitGate } from '../../../../node/store/operation.ts';
import { Store } from '../../../../node/store/store.ts';
import type { Signer } from '../../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { NODE, signer } from '../intake-fixture.ts';
import { BESIDE_KEY } from './sealing-fixture.ts';

/** The key that takes the place of the room's. */
export const other: Signer = nativeSigner(new Uint8Array(32).fill(2));

export interface AnewOptions {
  readonly gate?: CommitGate;
  /** Default: the log has decided nothing, and revoked the first key. */
  readonly standing?: Resigning['standing'];
  /** The key that signs. Default: `other`. */
  readonly signing?: Signer;
  /** Called once nothing may be sent. */
  readonly onWithdrawn?: () => void;
}

/** A sealer over the store of a sealing room, whose key was replaced. It is not started. */
export class AnewFixture implements AsyncDisposable {
  readonly store: Store;
  readonly sealer: Sealer;
  /** What happened, in order: nothing may be sent, batches signed again, sent again. */
  readonly steps: string[];

  private constructor(store: Store, sealer: Sealer, steps: string[]) {
    this.store = store;
    this.sealer = sealer;
    this.steps = steps;
  }

  static async open(
    directory: string,
    { gate, standing = firstRevoked, signing = other, onWithdrawn }: AnewOptions = {},
  ): Promise<AnewFixture> {
    await using opening = new AsyncDisposableStack();
    const store = opening.use(await Store.open(join(directory, 'store'), { gate }));
    const steps: string[] = [];
    const sealer = await Sealer.open({
      node: NODE,
      store,
      signer: () => signing,
      now: Date.now,
      intervalMs: 3_600_000,
      named: standing().decided,
      chainStart: async () => timestampOf(0),
      decisionOf: async () => undefined,
      publicKeyOf: (keyId) => [signer, other].find((key) => key.keyId === keyId)?.publicKey,
      besides: ({ envelope }) => [
        { type: 'put', key: `${BESIDE_KEY}/${envelope.batch}`, value: Buffer.from(envelope.keyId) },
      ],
      resigning: {
        standing,
        async withdraw(from) {
          steps.push(`withdraw ${from}`);
          onWithdrawn?.();
        },
        resume: () => void steps.push('resume'),
        onSigned: (batches: readonly StoredBatch[]) =>
          void steps.push(`signed ${batches.map(({ envelope }) => envelope.batch)}`),
      },
      onSealed: () => {},
      onRefused: () => {},
      log: pino({ level: 'silent' }),
    });
    opening.move();
    return new AnewFixture(store, sealer, steps);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sealer[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

function firstRevoked(): ReturnType<Resigning['standing']> {
  return { decided: 0, isRevoked: (keyId) => keyId === signer.keyId };
}
