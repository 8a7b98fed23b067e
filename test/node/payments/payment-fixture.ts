import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type PaidDraft, type PreparedDraft, prepareDraft } from '../../../node/intake/draft.ts';
import type { BuiltRecord } from '../../../node/intake/groups.ts';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { OpenAuthorizations } from '../../../node/payments/open-authorizations.ts';
import type { PaidOutcome, PaidRequest, Work } from '../../../node/payments/paid-request.ts';
import { PaymentAdmission, PaymentLimits, WalletCalls } from '../../../node/payments/payment-admission.ts';
import { PaymentCharger } from '../../../node/payments/payment-charger.ts';
import { PaymentCipher } from '../../../node/payments/payment-cipher.ts';
import { PaymentError } from '../../../node/payments/payment-error.ts';
import { PaymentStore } from '../../../node/payments/payment-store.ts';
import type { Publication } from '../../../node/payments/payment-tables.ts';
import { PaymentUpkeep } from '../../../node/payments/payment-upkeep.ts';
import { Payments } from '../../../node/payments/payments.ts';
import { Publisher } from '../../../node/payments/publisher.ts';
import type { PreparedRow } from '../../../node/payments/prepared-rows.ts';
import { SettlementLedger } from '../../../node/payments/settlement-ledger.ts';
import { Settler } from '../../../node/payments/settler.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { joinTexts, splitTexts } from '../../../node/records/record-lines.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { Store, StoreError } from '../../../node/store/store.ts';
import { type AttestationRecord, makeRecord, openRecord } from '../../../protocol/chain/record.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId, type RecordId } from '../../../protocol/ids.ts';
import { type Payment, type WalletAddress, walletAddress } from '../../../protocol/payments/payment.ts';
import type { ServiceName } from '../../../protocol/payments/prices.ts';
import { requirementsOf } from '../../../protocol/payments/terms.ts';
import { atomicAmount } from '../../../protocol/payments/usdc.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { FakeChain } from './fake-chain.ts';

export const NODE = nodeId('eu');
export const PAY_TO = `0x${'f'.repeat(40)}`;
export const PAYER = walletAddress(`0x${'a'.repeat(40)}`);
export const START = Date.UTC(2026, 10, 21, 12);
export const PAYLOAD_KEY = new Uint8Array(32).fill(7);
export const SERVICE: ServiceName = 'hedera-fact';
export const payloads = new PayloadCipher(PAYLOAD_KEY);

/** What the disk does with a write: keeps it, refuses it, or the process dies before or after it. */
export type Fate = 'kept' | 'refused' | 'dies-before' | 'dies-after';

/** Deadlines so short that a facilitator which hangs costs a test nothing. */
const SHORT_DEADLINES = { verifyMs: 15, settleMs: 15, chainMs: 15, lookAgainMs: [1, 1] };

/** Paid calls over a real store, with a clock, a chain and a disk that do what they are told. */
export class PaymentFixture implements AsyncDisposable {
  clock = START;
  readonly chain = new FakeChain(() => this.clock);
  fate: () => Fate = () => 'kept';
  isDead = false;
  /** Whether the clock is known to be right. */
  isClockRight = true;
  /** Whether intake takes no records now: from before the work on, or from after the settlement. */
  isQueueFull = false;
  isIntakeStopped = false;
  /** Whether intake takes no records any more. */
  isIntakeClosed = false;
  readonly limits = new PaymentLimits();
  readonly #directory: string;
  readonly #deadlines: typeof SHORT_DEADLINES;
  #open: Opened | undefined;

  private constructor(directory: string, deadlines: typeof SHORT_DEADLINES) {
    this.#directory = directory;
    this.#deadlines = deadlines;
  }

  static async open(deadlines: Partial<typeof SHORT_DEADLINES> = {}): Promise<PaymentFixture> {
    const directory = await mkdtemp(join(tmpdir(), 'payments-'));
    const fixture = new PaymentFixture(directory, { ...SHORT_DEADLINES, ...deadlines });
    await fixture.start();
    return fixture;
  }

  async start(): Promise<void> {
    this.isDead = false;
    const store = await Store.open(this.storeDirectory);
    const write = store.write.bind(store);
    store.write = (operations) => this.#write(() => write(operations));
    const now = () => this.clock;
    const log = pino({ level: 'silent' });
    const ledger = await SettlementLedger.open({ node: NODE, store, now, isClockRight: () => this.isClockRight });
    const paymentStore = new PaymentStore({ store, cipher: new PaymentCipher(PAYLOAD_KEY), ledger, now });
    const settler = new Settler({ means: this.chain, log, deadlines: this.#deadlines });
    const charger = new PaymentCharger({ paymentStore, settler });
    const { limits } = this;
    const calls = new WalletCalls();
    const intake = {
      prepareAll: async (drafts: readonly PaidDraft[]) =>
        drafts.map((draft) => prepareDraft(draft, NODE, payloads, this.clock)),
      recordAll: (prepared: readonly PreparedDraft[]) => this.#record(store, prepared),
      requireCapacity: (count: number) => {
        if (this.isQueueFull && count > 0) throw new IntakeError('queue-full', 'the queue is full');
      },
    };
    const publisher = new Publisher({ paymentStore, intake, publicationOf: (id) => publicationOf(store, id) });
    const open = new OpenAuthorizations();
    const admission = await PaymentAdmission.open({ paymentStore, settler, ledger, limits, calls, open, now });
    const payments = new Payments({ paymentStore, charger, settler, publisher, admission, intake, now });
    const upkeep = new PaymentUpkeep({
      store,
      paymentStore,
      payments,
      now,
      isClockRight: () => this.isClockRight,
      log,
    });
    this.#open = { store, ledger, paymentStore, payments, upkeep, open };
  }

  /** Waits for what is under way, ends it, and begins again on the same disk. */
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
  async take(call: PaidRequest, work: Work = worked(call)): Promise<PaidOutcome> {
    const { payments } = this.opened;
    using _admitted = await payments.admit(call);
    return await payments.take(call, async () => work);
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

  /** Records of this node that other members held, as a restored store takes them back. */
  giveBack(rows: readonly PreparedRow[]): Promise<void> {
    const built = rows.map((row) => recordOf({ ...row, draft: row }, timestampOf(START)));
    return this.opened.store.write(madeRows(built));
  }

  async #write(write: () => Promise<void>): Promise<void> {
    if (this.isDead) throw new StoreError('closed', 'the process is gone');
    const fate = this.fate();
    if (fate === 'dies-before' || fate === 'dies-after') this.isDead = true;
    if (fate === 'kept' || fate === 'dies-after') await write();
    if (fate !== 'kept') throw new StoreError('write-failed', 'the disk refused');
  }

  async #record(store: Store, prepared: readonly PreparedDraft[]): Promise<readonly BuiltRecord[]> {
    if (this.isIntakeClosed) throw new IntakeError('closed', 'the node signs nothing more');
    if (this.isIntakeStopped) throw new IntakeError('clock-off', 'the clock is off');
    const signedAt = timestampOf(this.clock);
    const built = prepared.map((draft) => recordOf(draft, signedAt));
    const root = writeSha256(
      createHash('sha256')
        .update(prepared[0]?.id ?? '')
        .digest(),
    );
    const size = prepared.length;
    const group = { v: 1, type: 'group', node: NODE, first: 1, size, root, keyId: root, signedAt } as const;
    await store.write([...madeRows(built), ...prepared.flatMap(({ inGroup }) => inGroup?.(group) ?? [])]);
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
  readonly paymentStore: PaymentStore;
  readonly payments: Payments;
  readonly upkeep: PaymentUpkeep;
  readonly open: OpenAuthorizations;
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

async function publicationOf(store: Store, id: RecordId): Promise<Publication | undefined> {
  const bytes = await store.get(`made/${id}`);
  if (bytes === undefined) return undefined;
  return { submittedAt: openMade(bytes).submittedAt, groupRoot: writeSha256(new Uint8Array(32)) };
}

function openMade(bytes: Uint8Array): AttestationRecord {
  const [texts] = splitTexts(Buffer.from(bytes).toString());
  if (texts === undefined) throw new Error('no texts');
  return openRecord(nativeSuite, texts);
}

let made = 0;

function madeRows(built: readonly BuiltRecord[]): Operation[] {
  return built.map(({ record, texts }) => {
    return { type: 'put', key: `made/${record.id}`, value: Buffer.from(joinTexts([texts])) };
  });
}

type Placeable = Omit<PreparedDraft, 'sealed'>;

function recordOf({ draft, id, payloadHash, claims, links }: Placeable, submittedAt: Timestamp): BuiltRecord {
  const { kind, account, sourceId } = draft;
  const order = { node: NODE, seq: ++made, sourceSeq: 1, sourcePrev: null, submittedAt };
  const written = makeRecord(nativeSuite, { id, kind, account, sourceId, payloadHash, claims, links, ...order });
  return { ...written, leaf: new Uint8Array(32) };
}

export function draftFor(sourceId: string): PaidDraft {
  return { kind: 'decision', account: 'x402', sourceId, payload: '{}', claims: { channel: 'tiered' }, links: {} };
}

/** Work that prepares two records in the name of its payment and tells their ids, and when they were made. */
export function worked({ payment }: PaidRequest): Work {
  return async (recording) => {
    const { nonce } = payment.authorization;
    const records = await recording.prepare([draftFor(nonce), draftFor(nonce)]);
    const body = { ids: records.map(({ id }) => id), made: { at: null, in: null } };
    return {
      body,
      blanks: [
        { at: ['made', 'at'], is: 'submittedAt' },
        { at: ['made', 'in'], is: 'groupRoot' },
      ],
    };
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
  readonly service?: ServiceName;
  readonly from?: WalletAddress;
}

/** A call as it comes from the gate. */
export function callOf(options: CallOptions = {}): PaidRequest {
  const { nonce = 1, request = 'r', signature = '0x01', identifier = null, validBefore = 300, isWanted } = options;
  const { service = SERVICE, from = PAYER } = options;
  const terms = requirementsOf(service, { payTo: PAY_TO });
  const payment: Payment = {
    resource: null,
    accepted: { ...terms },
    authorization: {
      from,
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
    service,
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
