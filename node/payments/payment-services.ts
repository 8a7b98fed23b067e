import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { Intake } from '../intake/intake.ts';
import { readGroup, readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import type { PaymentsConfig } from './facilitator/config.ts';
import type { ChainReader, SettlementMeans } from './facilitator/contract.ts';
import { type LateBackend, lateBackend } from './facilitator/late-backend.ts';
import { OpenAuthorizations } from './open-authorizations.ts';
import { PaymentAdmission, PaymentLimits, WalletCalls } from './payment-admission.ts';
import { PaymentCharger } from './payment-charger.ts';
import { PaymentCipher } from './payment-cipher.ts';
import { PaymentStore } from './payment-store.ts';
import type { Publication } from './payment-tables.ts';
import { PaymentUpkeep } from './payment-upkeep.ts';
import { Payments } from './payments.ts';
import { Publisher } from './publisher.ts';
import { SettlementLedger } from './settlement-ledger.ts';
import { Settler } from './settler.ts';

/** What is paid for by the call, and what was paid. */
export interface PaymentServices {
  readonly settlements: SettlementLedger;
  /** Null where this node takes no payments. */
  readonly paymentService: PaymentService | null;
}

/** Where paid calls are paid. Disposing it ends what `start` began. */
export interface PaymentService extends AsyncDisposable {
  /** The chain that payments are on; null where a test stands in for it. */
  readonly chain: ChainReader | null;
  /** Address that is paid. */
  readonly payTo: string;
  readonly payments: Payments;
  readonly paymentLimits: PaymentLimits;
  readonly upkeep: PaymentUpkeep;
  /** Takes payments from now on, or as soon as chain and facilitator are there. */
  start(): Promise<void>;
}

/** Who moves the money of a node, and where to. */
export interface PaymentMeans {
  readonly settlement: SettlementMeans;
  readonly payTo: string;
  /** The same, where it is to be started and ended; null where a test stands in for it. */
  readonly backend: LateBackend | null;
}

/** The means that a configuration tells of; null where a node takes no payments. Asks nobody anything. */
export function openPaymentMeans(
  { payments, production }: { readonly payments: PaymentsConfig | null; readonly production: boolean },
  log: Logger,
): PaymentMeans | null {
  if (payments === null) return null;
  const backend = lateBackend({
    config: payments,
    log: log.child({ component: 'payments' }),
    isProduction: production,
  });
  return { settlement: backend, payTo: payments.payTo, backend };
}

interface PaymentServicesOptions {
  readonly store: Store;
  readonly node: NodeId;
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  readonly intake: Pick<Intake, 'prepareAll' | 'recordAll' | 'requireCapacity'>;
  readonly now: () => number;
  /** Whether the clock is known to be right. */
  readonly isClockRight: () => boolean;
  readonly log: Logger;
  /** Null where this node takes no payments. */
  readonly means: PaymentMeans | null;
}

/** How long the start of a node waits for chain and facilitator. In milliseconds. */
const START_MS = 3_000;
/**
 * How long settlements under way may take once the node is told to stop; what is left is found out at the next start.
 * In milliseconds.
 */
const DRAIN_MS = 5_000;

/** Opens the settlement ledger, and the payment service where the node has means to be paid. */
export async function openPaymentServices(options: PaymentServicesOptions): Promise<PaymentServices> {
  const settlements = await SettlementLedger.open(options);
  const paymentService = options.means === null ? null : await openPaymentService(options, options.means, settlements);
  return { settlements, paymentService };
}

async function openPaymentService(
  { store, payloadKey, intake, now, isClockRight, log }: PaymentServicesOptions,
  { settlement, payTo, backend }: PaymentMeans,
  ledger: SettlementLedger,
): Promise<PaymentService> {
  const paymentStore = new PaymentStore({ store, cipher: new PaymentCipher(payloadKey), ledger, now });
  const settler = new Settler({ means: settlement, log });
  const paymentLimits = new PaymentLimits();
  const calls = new WalletCalls();
  const open = new OpenAuthorizations();
  const payments = new Payments({
    paymentStore,
    charger: new PaymentCharger({ paymentStore, settler }),
    settler,
    publisher: new Publisher({ paymentStore, intake, publicationOf: (id) => publicationOf(store, id) }),
    admission: await PaymentAdmission.open({ paymentStore, settler, ledger, limits: paymentLimits, calls, open, now }),
    intake,
    now,
  });
  const upkeep = new PaymentUpkeep({ store, paymentStore, payments, now, isClockRight, log });
  return {
    payTo,
    payments,
    paymentLimits,
    upkeep,
    chain: backend?.chain ?? null,
    async start() {
      await within(START_MS, backend?.start());
      upkeep.start();
    },
    async [Symbol.asyncDispose]() {
      await within(DRAIN_MS, payments.idle());
      await upkeep[Symbol.asyncDispose]();
      await backend?.[Symbol.asyncDispose]();
    },
  };
}

async function publicationOf(store: Store, id: RecordId): Promise<Publication | undefined> {
  const found = await readRecord(store, id);
  if (found === undefined) return undefined;
  const { node, seq, submittedAt } = found.record;
  const signed = await readGroup(store, node, seq);
  if (signed === undefined) throw new RangeError(`${id} stands in no group`);
  return { submittedAt, groupRoot: signed.group.root };
}

async function within(milliseconds: number, work: Promise<void> = Promise.resolve()): Promise<void> {
  const over = new AbortController();
  const deadline = sleep(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([work, deadline]);
  over.abort();
}
