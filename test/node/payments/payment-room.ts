import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { CallsUnderWay } from '../../../node/payments/calls-under-way.ts';
import { Cashier } from '../../../node/payments/cashier.ts';
import { HeldVault } from '../../../node/payments/held-vault.ts';
import { PaymentBook } from '../../../node/payments/payment-book.ts';
import { PaymentLimits } from '../../../node/payments/payment-limits.ts';
import { PaymentUpkeep } from '../../../node/payments/payment-upkeep.ts';
import { type PaidOutcome, type PaidRequest, Payments, type Work } from '../../../node/payments/payments.ts';
import { PaymentError } from '../../../node/payments/payment-error.ts';
import { SettlementLedger } from '../../../node/payments/settlement-ledger.ts';
import { Settler } from '../../../node/payments/settler.ts';
import type { Draft } from '../../../node/intake/draft.ts';
import type { BuiltRecord } from '../../../node/intake/group-builder.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { newRecordId } from '../../../node/records/record-id.ts';
import { joinTexts, splitTexts } from '../../../node/records/record-lines.ts';
import { recordIndex } from '../../../node/records/record-tables.ts';
import { Store, StoreError } from '../../../node/store/store.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId, type RecordId } from '../../../protocol/ids.ts';
import { type Payment, walletAddress } from '../../../protocol/payments/payment.ts';
import { requirementsOf } from '../../../protocol/payments/terms.ts';
import type { ServiceName } from '../../../protocol/payments/prices.ts';
import { type AttestationRecord, makeRecord, openRecord } from '../../../protocol/chain/record.ts';
import { atomicAmount } from '../../../protocol/payments/usdc.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { FakeChain } from './fake-chain.ts';

export const NODE = nodeId('eu');
export const PAY_TO = `0x${'f'.repeat(40)}`;
export const PAYER = walletAddress(`0x${'a'.repeat(40)}`);
export const START = Date.UTC(2026, 10, 21, 12);
export const PAYLOAD_KEY = new Uint8Array(32).fill(7);
export const SERVICE: ServiceName = 'hedera-fact';

/** What the disk does with a write: keeps it, refuses it, or the process dies before or after it. */
export type Fate = 'kept' | 'refused' | 'dies-before' | 'dies-after';

/** Deadlines so short that a processor which hangs costs a test nothing. */
const DEADLINES = { verifyMs: 15, settleMs: 15, chainMs: 15, lookAgainMs: [1, 1] };

/** Paid calls over a real store, with a clock, a chain and a disk that do what they are told. */
export class PaymentRoom implements AsyncDisposable {
  clock = START;
  readonly chain = new FakeChain(() => this.clock);
  fate: () => Fate = () => 'kept';
  isDead = false;
  readonly #directory: string;
  #open: Opened | undefined;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(): Promise<PaymentRoom> {
    const room = new PaymentRoom(await mkdtemp(join(tmpdir(), 'payments-')));
    await room.start();
    return room;
  }

  async start(): Promise<void> {
    this.isDead = false;
    const store = await Store.open(this.storeDirectory);
    const write = store.write.bind(store);
    store.write = (operations) => this.#write(() => write(operations));
    const now = () => this.clock;
    const log = pino({ level: 'silent' });
    const ledger = await SettlementLedger.open({ node: NODE, store, now });
    const book = new PaymentBook({ store, vault: new HeldVault(PAYLOAD_KEY), ledger, now });
    const settler = new Settler({ processor: this.chain, log, deadlines: DEADLINES });
    const cashier = new Cashier({ book, settler });
    const limits = new PaymentLimits();
    const underWay = new CallsUnderWay();
    const payments = new Payments({
      book,
      cashier,
      settler,
      limits,
      underWay,
      now,
      intake: { submitAll: (drafts) => this.#record(store, drafts) },
      recordOf: (id) => readRecord(store, id),
    });
    const upkeep = new PaymentUpkeep({ store, book, payments, now, log });
    this.#open = { store, ledger, book, payments, upkeep };
  }

  /** Waits for what is under way, ends it, and begins anew on the same disk. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.upkeep[Symbol.asyncDispose]();
    await open?.payments.idle();
    await open?.store[Symbol.asyncDispose]();
  }

  get storeDirectory(): string {
    return join(this.#directory, 'store');
  }

  get opened(): Opened {
    if (this.#open === undefined) throw new Error('not open');
    return this.#open;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** A call that does some work and records it, as an endpoint would. */
  take(call: PaidRequest, work: Work = worked(call)): Promise<PaidOutcome> {
    return this.opened.payments.take(call, work);
  }

  /** The outcome, or the code of the refusal. */
  async answer(call: PaidRequest, work?: Work): Promise<PaidOutcome | string> {
    try {
      return await this.take(call, work);
    } catch (error) {
      if (error instanceof PaymentError) return error.code;
      if (error instanceof Error) return error.message;
      throw error;
    }
  }

  async #write(write: () => Promise<void>): Promise<void> {
    if (this.isDead) throw new StoreError('closed', 'the process is gone');
    const fate = this.fate();
    if (fate === 'dies-before' || fate === 'dies-after') this.isDead = true;
    if (fate === 'kept' || fate === 'dies-after') await write();
    if (fate !== 'kept') throw new StoreError('write-failed', 'the disk refused');
  }

  async #record(store: Store, drafts: readonly Draft[]): Promise<readonly BuiltRecord[]> {
    const built = drafts.map((draft) => recordOf(draft));
    await store.write([
      ...built.map(({ record, texts }) => ({
        type: 'put' as const,
        key: `made/${record.id}`,
        value: Buffer.from(joinTexts([texts])),
      })),
      ...built.map(({ record }) => recordIndex.put([record.id], record.seq)),
      ...drafts.flatMap((draft, i) => draft.besides?.(built[i]?.record.id ?? newRecordId(NODE, 0)) ?? []),
    ]);
    return built;
  }
}

/** Bodies of outcomes, and codes of refusals. */
export function told(outcome: PaidOutcome | string): unknown {
  return typeof outcome === 'string' ? outcome : outcome.body;
}

export function bodyOf(outcome: PaidOutcome | string): PaidOutcome['body'] {
  if (typeof outcome === 'string') throw new Error(`refused: ${outcome}`);
  return outcome.body;
}

interface Opened {
  readonly store: Store;
  readonly ledger: SettlementLedger;
  readonly book: PaymentBook;
  readonly payments: Payments;
  readonly upkeep: PaymentUpkeep;
}

/** Ids of the records on the disk, and the source that each was made for. */
export async function recordsOf(store: Store): Promise<[id: RecordId, sourceId: string][]> {
  const found: [RecordId, string][] = [];
  for await (const [, bytes] of store.range({ gte: 'made/', lt: 'made0' })) {
    const record = openMade(bytes);
    found.push([record.id, record.sourceId]);
  }
  return found;
}

async function readRecord(store: Store, id: RecordId): Promise<AttestationRecord> {
  const bytes = await store.get(`made/${id}`);
  if (bytes === undefined) throw new Error('no such record');
  return openMade(bytes);
}

function openMade(bytes: Uint8Array): AttestationRecord {
  const [texts] = splitTexts(Buffer.from(bytes).toString());
  if (texts === undefined) throw new Error('no texts');
  return openRecord(nativeSuite, texts);
}

let made = 0;

function recordOf(draft: Draft): BuiltRecord {
  const written = makeRecord(nativeSuite, {
    id: newRecordId(NODE, START),
    kind: draft.kind,
    node: NODE,
    seq: ++made,
    account: draft.account,
    sourceId: draft.sourceId,
    sourceSeq: 1,
    sourcePrev: null,
    submittedAt: timestampOf(START),
    payloadHash: writeSha256(new Uint8Array(32)),
    claims: { channel: 'tiered' },
    links: {},
  });
  return { ...written, leaf: new Uint8Array(32) };
}

export function draftFor(sourceId: string): Draft {
  return { kind: 'decision', account: 'x402', sourceId, payload: '{}', claims: { channel: 'tiered' }, links: {} };
}

/** Work that makes two records in the name of its payment and tells their ids. */
export function worked({ payment }: PaidRequest): Work {
  return async (recording) => {
    const { nonce } = payment.authorization;
    const { records, kept } = await recording.record(async () => ({
      drafts: [draftFor(nonce), draftFor(nonce)],
      kept: { thing: 'kept' },
    }));
    return { body: { ids: records.map(({ id }) => id), ...kept } };
  };
}

export interface CallOptions {
  readonly nonce?: number;
  readonly request?: string;
  readonly signature?: string;
  readonly identifier?: string | null;
  /** Seconds from `START`. */
  readonly validBefore?: number;
  readonly isWanted?: () => boolean;
}

/** A call as it comes from the gate. */
export function callOf(options: CallOptions = {}): PaidRequest {
  const { nonce = 1, request = 'r', signature = '0x01', identifier = null, validBefore = 300, isWanted } = options;
  const terms = requirementsOf(SERVICE, { payTo: PAY_TO });
  const payment: Payment = {
    resource: null,
    accepted: { ...terms },
    authorization: {
      from: PAYER,
      to: walletAddress(PAY_TO),
      value: atomicAmount(terms.amount),
      validAfter: 0,
      validBefore: START / 1000 + validBefore,
      nonce: nonceOf(nonce),
    },
    signature,
    identifier,
  };
  return {
    service: SERVICE,
    payment,
    terms,
    request: sha(request),
    proof: sha(`${nonce}/${signature}`),
    isWanted: isWanted ?? (() => true),
  };
}

export function nonceOf(n: number): Payment['authorization']['nonce'] {
  const text = `0x${n.toString(16).padStart(64, '0')}`;
  return text as Payment['authorization']['nonce'];
}

export function sha(text: string): PaidRequest['request'] {
  return writeSha256(createHash('sha256').update(text).digest());
}
