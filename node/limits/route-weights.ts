/**
 * Where the calls of a route are bounded that are under way at the same time. `health`: nowhere. `read`, `proof` and
 * `verdict`: before any work, in this table. Others read a body first, and are bounded behind it: `record` by the line of
 * the intake, `bundle` by the room for bundles and their threads, `paid` by what payments allow.
 */
export type WorkClass = 'bundle' | 'health' | 'paid' | 'proof' | 'read' | 'record' | 'verdict';

/** What one call of a route may cost at most, about. */
export interface RouteWeight {
  readonly class: WorkClass;
  /** Of the processor, in milliseconds. */
  readonly processorMs: number;
  /** Of memory while it is under way, in KiB. */
  readonly memoryKiB: number;
  /** Of the store for ever, in bytes. */
  readonly permanentBytes: number;
}

/** How many calls of a class are under way at the same time, and how many wait for that. Others are told to come back. */
export interface ClassBounds {
  readonly places: number;
  readonly waiting: number;
}

export const CLASS_BOUNDS: Readonly<Record<'proof' | 'read' | 'verdict', ClassBounds>> = {
  // Of verdicts that are computed: who asks the same at the same time shares one, and none waits here for another node.
  verdict: { places: 4, waiting: 252 },
  // A call may wait for another node meanwhile: nobody stands in a line behind it.
  proof: { places: 256, waiting: 0 },
  read: { places: 512, waiting: 0 },
};

/** A minute's allowance is counted in requests of so much; a heavier one takes as many as it weighs. In milliseconds. */
const REQUEST_MS = 50;

const HEALTH: RouteWeight = { class: 'health', processorMs: 1, memoryKiB: 8, permanentBytes: 0 };
const READ: RouteWeight = { class: 'read', processorMs: 10, memoryKiB: 256, permanentBytes: 0 };
const PROOF: RouteWeight = { class: 'proof', processorMs: 10, memoryKiB: 512, permanentBytes: 0 };
const RECORD: RouteWeight = { class: 'record', processorMs: 5, memoryKiB: 64, permanentBytes: 8 << 10 };
const PAID: RouteWeight = { class: 'paid', processorMs: 50, memoryKiB: 512, permanentBytes: 8 << 10 };

/** What is not like the others of its access and method. */
const OWN_WEIGHTS: Readonly<Record<string, RouteWeight>> = {
  'GET /v1/health': HEALTH,
  'GET /v1/verify/:id': { class: 'verdict', processorMs: 50, memoryKiB: 1_536, permanentBytes: 0 },
  'GET /v1/proofs/:id': PROOF,
  'GET /v1/status/:id': PROOF,
  'GET /v1/bundles/:id': { ...PROOF, processorMs: 50, memoryKiB: 1_536 },
  'POST /v1/bundles/verify': { class: 'bundle', processorMs: 100, memoryKiB: 96 << 10, permanentBytes: 0 },
};

interface WeighedRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly access: 'free' | 'key' | 'paid';
}

/** The weight of a route, by its method and the pattern of its path. */
export function weightOf({ method, path, access }: WeighedRoute): RouteWeight {
  const own = OWN_WEIGHTS[`${method} ${path}`];
  if (own !== undefined) return own;
  if (access === 'paid') return PAID;
  return method === 'GET' ? READ : RECORD;
}

/** Requests of a minute's allowance that one call takes. */
export function requestsOf({ processorMs }: RouteWeight): number {
  return Math.max(1, Math.ceil(processorMs / REQUEST_MS));
}

/** The same of the heaviest route of all. */
export const MOST_REQUESTS = Math.max(...[READ, PROOF, RECORD, PAID, ...Object.values(OWN_WEIGHTS)].map(requestsOf));
