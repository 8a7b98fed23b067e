import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Intake, type IntakeOptions } from '../../../node/intake/intake.ts';
import type { Draft } from '../../../node/intake/draft.ts';
import type { BuiltGroup } from '../../../node/intake/groups.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import type { PreparingThreads } from '../../../node/intake/preparing-threads.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { TimeSteps } from '../../../node/records/time-steps.ts';
import { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { decisionTexts } from '../../../protocol/payload/commitment.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';

export const NODE = nodeId('eu');
export const signer: Signer = nativeSigner(new Uint8Array(32).fill(1));
export const PAYLOAD_KEY = new Uint8Array(32).fill(2);
export const cipher = new PayloadCipher(PAYLOAD_KEY);

/** The node's own signer, which tells how often it has signed. */
export function countingSigner(): Signer & { readonly signed: number } {
  let signed = 0;
  return {
    ...signer,
    get signed() {
      return signed;
    },
    async sign(message, context) {
      const signature = await signer.sign(message, context);
      signed++;
      return signature;
    },
  };
}

/** What the disk does with a write: keeps it, refuses it, or keeps it and says that it did not, as before a crash. */
export type Fate = 'kept' | 'refused' | 'kept-unsaid';

export interface FixtureOptions {
  readonly now?: () => number;
  readonly signer?: Signer;
  readonly timeOf?: IntakeOptions['timeOf'];
  readonly threads?: PreparingThreads;
  /** Called before each write that intake makes. */
  readonly fate?: () => Promise<Fate> | Fate;
}

/**
 * Intake over a real store, with a disk that can be made to fail. Opened again on the same directory, it is the node
 * after a restart.
 */
export class IntakeFixture implements AsyncDisposable {
  readonly store: Store;
  readonly intake: Intake;
  readonly committed: BuiltGroup[];

  private constructor(store: Store, intake: Intake, committed: BuiltGroup[]) {
    this.store = store;
    this.intake = intake;
    this.committed = committed;
  }

  static async open(directory: string, options: FixtureOptions = {}): Promise<IntakeFixture> {
    const store = await Store.open(join(directory, 'store'));
    const write = store.write.bind(store);
    store.write = async (operations) => {
      const fate = (await options.fate?.()) ?? 'kept';
      if (fate !== 'refused') await write(operations);
      if (fate !== 'kept') throw new Error('the disk refused');
    };
    const committed: BuiltGroup[] = [];
    const intake = await Intake.open({
      node: NODE,
      store,
      signer: () => options.signer ?? signer,
      cipher,
      threads: options.threads,
      now: options.now ?? Date.now,
      ...(options.timeOf === undefined ? {} : { timeOf: options.timeOf }),
      projections: [],
      counters: new RecordCounters(store, [new TimeSteps(store, NODE)]),
      onCommitted: (group) => void committed.push(group),
    });
    intake.start();
    return new IntakeFixture(store, intake, committed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.intake[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'intake-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A decision of a source; `more` changes the draft. */
export function draftOf(sourceId: string, data: JsonObject = {}, more: Partial<Draft> = {}): Draft {
  return {
    kind: 'decision',
    account: 'acme',
    sourceId,
    payload: canonicalize({ sourceId, data }),
    decision: decisionTexts(data),
    claims: { channel: 'direct', eventType: 'DECISION' },
    links: {},
    ...more,
  };
}

/** The code of the error that a promise fails with, or `none`. */
export async function codeOf(outcome: Promise<unknown>): Promise<string> {
  try {
    await outcome;
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
