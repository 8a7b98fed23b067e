const KIB = 1024;
const MIB = 1024 * KIB;

/** Kinds of work: where the calls of a route are bounded that are under way at the same time. */
export const WORK_CLASSES = ['bundle', 'health', 'paid', 'proof', 'read', 'record', 'sign-up', 'verdict'] as const;

export type WorkClass = (typeof WORK_CLASSES)[number];

/** What asks after the node's health has no bound and waits for nothing. */
export type BoundedClass = Exclude<WorkClass, 'health'>;

/** What one call of a route may cost at most, about. */
export interface RouteWeight {
  readonly class: WorkClass;
  /** Of the processor, in milliseconds. */
  readonly processorMs: number;
  /** Of memory while it is under way, beside the bytes of its body, in KiB. */
  readonly memoryKiB: number;
  /** Of the store for ever, in bytes. */
  readonly permanentBytes: number;
}

/**
 * How many calls of a class are under way at the same time, and how many wait for that. Others are told to come back.
 */
export interface ClassBounds {
  readonly places: number;
  readonly waiting: number;
}

/**
 * From before a body is read until a call is answered. A record's place is free once it is made, whatever its caller
 * waits for then; a stream's once it has been sent.
 */
export const CLASS_BOUNDS: Readonly<Record<BoundedClass, ClassBounds>> = {
  // A call may wait for another node meanwhile: nobody stands in a line behind it.
  bundle: { places: 1_024, waiting: 0 },
  paid: { places: 5_000, waiting: 0 },
  proof: { places: 256, waiting: 0 },
  read: { places: 512, waiting: 0 },
  record: { places: 1_024, waiting: 0 },
  'sign-up': { places: 512, waiting: 0 },
  verdict: { places: 256, waiting: 0 },
};

/** Of the calls for verdicts, those that are computed: who asks the same at the same time shares one. */
export const COMPUTED_VERDICTS: ClassBounds = { places: 4, waiting: 252 };

/** Callers who wait for the ledger (`Prefer: wait`); past it nobody is made to wait, and all are answered at once. */
export const LEDGER_WAITS: ClassBounds = { places: 4_096, waiting: 0 };

/** Of places, waiting and bytes of a class, what one holder (an account, an address, a wallet) may have. */
export const HOLDER_SHARE = 0.5;

/**
 * Bytes of bodies that have arrived and are worked on, by what they are; those still arriving have a budget beside.
 * Each has room for the largest of its kind and smaller ones beside it; together they stay below the 200 MiB that a
 * node may grow by under attack.
 */
export const BODY_BYTES = {
  /**
   * Bodies that are arriving, of usual calls, and apart from them of batches: past it the largest is refused. One of the
   * longest has room, a bundle of 16 MiB, and two thousand usual ones beside it.
   */
  arriving: 18 * MIB,
  arrivingBatches: 40 * MIB,
  records: 24 * MIB,
  /** Of up to 256 KiB, and longer ones, which take nothing of the room of the short. */
  shortBundles: 16 * MIB,
  longBundles: 18 * MIB,
  batches: 40 * MIB,
} as const;

/**
 * A minute's allowance is counted in requests of so much; a heavier one takes as many as it weighs. In milliseconds.
 */
const REQUEST_MS = 50;
/** A line of the log of an account's keys: every request with a key leaves one. In bytes. */
export const ENTRY_BYTES = 512;
/**
 * A record of the largest body that is taken: its payload, encrypted, and head, body, receipt and indexes. In bytes.
 */
export const LARGEST_RECORD_BYTES = 1_280 * KIB;
/** A version of an account's statement of the longest payload, alone in its group. In bytes. */
export const LARGEST_VERSION_BYTES = 144 * KIB;
/** Most bytes that a batch's body, and the records made of it, take. */
const LARGEST_BATCH_BYTES = 48 * MIB;

const HEALTH: RouteWeight = { class: 'health', processorMs: 1, memoryKiB: 8, permanentBytes: 0 };
const READ: RouteWeight = { class: 'read', processorMs: 10, memoryKiB: 256, permanentBytes: 0 };
const PROOF: RouteWeight = { class: 'proof', processorMs: 10, memoryKiB: 512, permanentBytes: 0 };
const RECORD: RouteWeight = { class: 'record', processorMs: 5, memoryKiB: 32, permanentBytes: LARGEST_RECORD_BYTES };
const PAID: RouteWeight = { class: 'paid', processorMs: 50, memoryKiB: 16, permanentBytes: LARGEST_RECORD_BYTES };
/** A batch is walked in slices: its time is never taken at once. */
const BATCH: RouteWeight = { ...PAID, processorMs: 2_000, permanentBytes: LARGEST_BATCH_BYTES };
/** A batch by key: of fewer records, and in a place among records. */
const KEYED_BATCH: RouteWeight = { ...RECORD, processorMs: 1_500, permanentBytes: LARGEST_BATCH_BYTES };
/**
 * Account, key, the digest of the mail address, and the lines of the account's log; and where the account names other
 * nodes, a record, alone in its group. Of lost keys no more than that.
 */
export const SIGN_UP: RouteWeight = { class: 'sign-up', processorMs: 10, memoryKiB: 16, permanentBytes: 16 * KIB };

/** What is not like the others of its access and method. */
const OWN_WEIGHTS: Readonly<Record<string, RouteWeight>> = {
  'GET /v1/health': HEALTH,
  'GET /v1/verify/:id': { class: 'verdict', processorMs: 50, memoryKiB: 1_536, permanentBytes: 0 },
  'GET /v1/proofs/:id': PROOF,
  'GET /v1/status/:id': { ...PROOF, permanentBytes: ENTRY_BYTES },
  'GET /v1/bundles/:id': { ...PROOF, processorMs: 50, memoryKiB: 1_536, permanentBytes: ENTRY_BYTES },
  // A verdict and a bundle, and then the page, in a thread.
  'GET /v1/certificates/:id': { class: 'verdict', processorMs: 100, memoryKiB: 2_048, permanentBytes: ENTRY_BYTES },
  'GET /v1/shared/:token/certificate': {
    class: 'verdict',
    processorMs: 100,
    memoryKiB: 2_048,
    permanentBytes: ENTRY_BYTES,
  },
  'GET /v1/shared/:token': { ...PROOF, processorMs: 50, memoryKiB: 1_536, permanentBytes: ENTRY_BYTES },
  'POST /v1/bundles/verify': { class: 'bundle', processorMs: 100, memoryKiB: 16, permanentBytes: 0 },
  // Rows, what is said of the federation, and a record; the work itself is bounded by the packs in the making.
  'POST /v1/evidence-packs': { ...RECORD, processorMs: 50, permanentBytes: 256 * KIB },
  'POST /sign-up': SIGN_UP,
  'POST /lost-key': SIGN_UP,
  'POST /lost-key/:token': SIGN_UP,
  'POST /console/mail': SIGN_UP,
  'POST /console/enter/:token': SIGN_UP,
  'POST /console/sign-in': { ...SIGN_UP, class: 'record' },
  'POST /v1/lost-key': SIGN_UP,
  'POST /v1/lost-key/:token': SIGN_UP,
  'POST /v1/sign-up': SIGN_UP,
  'POST /v1/tiered-attest-batch': KEYED_BATCH,
  'POST /v1/x402/tiered-attest-batch': BATCH,
  'POST /v1/x402/tiered-attest-batch-xl': BATCH,
};

interface WeighedRoute {
  readonly method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly access: 'free' | 'key' | 'paid';
}

/** The weight of a route, by its method and the pattern of its path. */
export function weightOf({ method, path, access }: WeighedRoute): RouteWeight {
  const own = OWN_WEIGHTS[`${method} ${path}`];
  if (own !== undefined) return own;
  if (access === 'paid') return PAID;
  if (method !== 'GET') return RECORD;
  return access === 'key' ? { ...READ, permanentBytes: ENTRY_BYTES } : READ;
}

/** Requests of a minute's allowance that one call of a free route takes. */
export function requestsOf({ processorMs }: RouteWeight): number {
  return Math.max(1, Math.ceil(processorMs / REQUEST_MS));
}

/** The same of the heaviest free route. */
export const MOST_REQUESTS = Math.max(
  ...[READ, PROOF, RECORD, ...Object.values(OWN_WEIGHTS)].filter(isFree).map(requestsOf),
);

function isFree(weight: RouteWeight): boolean {
  return weight.class !== 'paid' && weight !== KEYED_BATCH;
}

/** What a member may ask another for. */
export const MEMBER_PROTOCOLS = ['status', 'batches', 'record', 'payload', 'log', 'held', 'start'] as const;
export type MemberProtocol = (typeof MEMBER_PROTOCOLS)[number];

/**
 * What one request of a member costs of the processor before its answer is sent, in milliseconds, by what it asks for.
 */
export const MEMBER_WEIGHTS: Readonly<Record<MemberProtocol, number>> = {
  status: 2,
  batches: 2,
  record: 1,
  payload: 0.2,
  log: 2,
  held: 2,
  start: 5,
};

/**
 * What each KiB of an answer to a member costs of the processor: reading it, and sealing it for the wire. In
 * milliseconds.
 */
export const SENT_KIB_MS = 1 / 100;
