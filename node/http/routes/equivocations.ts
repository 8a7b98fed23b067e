import Type from 'typebox';
import {
  EQUIVOCATIONS_EXAMPLE,
  EQUIVOCATIONS_PAGE,
  type EquivocationsAnswer,
  EquivocationsAnswerShape,
  EquivocationsQueryShape,
  MISDEED_PROOFS_EXAMPLE,
  MISDEED_PROOFS_PAGE,
  type MisdeedProofsAnswer,
  MisdeedProofsAnswerShape,
} from '../../../protocol/api/equivocations.ts';
import { isNodeId, type NodeId } from '../../../protocol/ids.ts';
import type { MisdeedProof } from '../../../protocol/proof/misdeed.ts';
import { NodeIdShape, OrdinalShape } from '../../../protocol/shapes.ts';
import { equivocationTable } from '../../federation/equivocations.ts';
import type { LogFollower } from '../../federation/log-follower.ts';
import { shownAfter, type ShownSources } from '../../federation/shown-equivocations.ts';
import type { CheckpointStore } from '../../log/checkpoint-store.ts';
import { shownFalse } from '../../log/contradiction.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import type { Misdeeds } from '../../verification/misdeeds.ts';
import type { ReceiptsNotKept } from '../../verification/receipts-not-kept.ts';
import { fieldProblem, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { FilteredCursor, PageCursor } from '../page-cursor.ts';
import type { FreeRoute } from '../route.ts';

export interface EquivocationServices extends ShownSources {
  readonly checkpointStore: Pick<CheckpointStore, 'contradicted'>;
  readonly follower: Pick<LogFollower, 'contradictedBy'>;
  readonly keys: Pick<FederationKeys, 'rosters'>;
  readonly misdeeds: Pick<Misdeeds, 'falseCheckpoint' | 'proofOf'>;
  readonly receiptsNotKept: Pick<ReceiptsNotKept, 'all' | 'proofsOf'>;
}

const CURSOR = new PageCursor(Type.Tuple([NodeIdShape, OrdinalShape]), ['eu', 1204]);
/** Of the proofs against one member: by the number of a batch. */
const PROOFS_CURSOR = new FilteredCursor(Type.Tuple([OrdinalShape]), [1204]);

/** What members did against the protocol, as far as this node saw it. */
export function equivocationRoutes(services: EquivocationServices): readonly FreeRoute[] {
  return [equivocationsRoute(services), misdeedProofsRoute(services)];
}

/** `GET /v1/equivocations`: the batch numbers that a node told two stories of. */
function equivocationsRoute(services: EquivocationServices): FreeRoute {
  const readQuery = queryReader(EquivocationsQueryShape);
  return {
    method: 'GET',
    path: '/v1/equivocations',
    access: 'free',
    documentation: {
      summary: 'Batch numbers that a node told two stories of',
      description:
        'Of each number the envelopes that the ledger names and those that members showed, as they were signed. `stands` ' +
        'where it is proven: the node’s own account named both, by keys that were not compromised. They accuse, and change ' +
        'no verdict: the log decides each number once. `falseCheckpoints` are those that the tree of this node contradicts, ' +
        'at most two of a member, and none while most members contradict that tree: then it is this node that was fooled. ' +
        '`receiptsNotKept` are records in whose place the decided batch of their node holds another one.',
      query: { cursor: CURSOR.parameter },
      answer: { shape: EquivocationsAnswerShape, example: EQUIVOCATIONS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }) {
      const { cursor } = readQuery(query);
      const { page, next } = await shownAfter(services, placeOf(cursor), EQUIVOCATIONS_PAGE);
      const contradicted =
        cursor === undefined ? shownFalse(services.checkpointStore, services.follower.contradictedBy) : [];
      const body: EquivocationsAnswer = {
        success: true,
        equivocations: [...page],
        falseCheckpoints: contradicted.map(({ signed }) => signed),
        receiptsNotKept: cursor === undefined ? [...(await services.receiptsNotKept.all())] : [],
        nextCursor: next === null ? null : CURSOR.write([next.node, next.batch]),
      };
      return { body };
    },
  };
}

/** `GET /v1/equivocations/:node`: the files that prove what a node did to anyone who has the genesis roster. */
function misdeedProofsRoute(services: EquivocationServices): FreeRoute {
  const readQuery = queryReader(EquivocationsQueryShape);
  return {
    method: 'GET',
    path: '/v1/equivocations/:node',
    access: 'free',
    documentation: {
      summary: 'Proofs of misbehaviour of one member',
      description:
        'Each is a `meridian-proof/2`, which `npm run verify` judges with no network: a checkpoint that is false by those ' +
        'of other members, a receipt that the decided batch does not keep, and of each number both envelopes with the ledger messages that name them. A number is left ' +
        'out until both envelopes and both messages are here.',
      params: { node: { description: 'Node id of a member, past or present.', shape: NodeIdShape, example: 'eu' } },
      query: { cursor: PROOFS_CURSOR.parameter },
      answer: { shape: MisdeedProofsAnswerShape, example: MISDEED_PROOFS_EXAMPLE },
      problems: ['invalid-field', 'member-not-found'],
    },
    async answer({ params: { node = '' }, query }) {
      const { cursor } = readQuery(query);
      const [after] = PROOFS_CURSOR.read(cursor, { node }) ?? [];
      const member = memberOf(services, node);
      const { proofs, next } = await proofsAfter(services, member, after ?? 0);
      const checkpoints = after === undefined ? await falseCheckpointsOf(services, member) : [];
      const receipts = after === undefined ? await services.receiptsNotKept.proofsOf(member) : [];
      const body: MisdeedProofsAnswer = {
        success: true,
        node: member,
        proofs: [...checkpoints, ...receipts, ...proofs],
        nextCursor: next === null ? null : PROOFS_CURSOR.write([next], { node }),
      };
      return { body };
    },
  };
}

/** Of the pairs after a number, those that can be proven; `next` is the number to go on after. */
async function proofsAfter(
  { store, misdeeds, equivocations }: EquivocationServices,
  node: NodeId,
  after: number,
): Promise<{ readonly proofs: readonly MisdeedProof[]; readonly next: number | null }> {
  const proofs: MisdeedProof[] = [];
  for await (const [[batch = ''], pair] of equivocationTable.under(store, [node], { after })) {
    if (!equivocations.isShown(node, Number(batch))) continue;
    const proof = await misdeeds.proofOf(pair);
    if (proof !== null) proofs.push(proof);
    if (proofs.length >= MISDEED_PROOFS_PAGE) return { proofs, next: Number(batch) };
  }
  return { proofs, next: null };
}

async function falseCheckpointsOf(services: EquivocationServices, node: NodeId): Promise<readonly MisdeedProof[]> {
  const { misdeeds, checkpointStore, follower } = services;
  const ofNode = shownFalse(checkpointStore, follower.contradictedBy).filter(
    ({ checkpoint }) => checkpoint.node === node,
  );
  return Promise.all(ofNode.map((known) => misdeeds.falseCheckpoint(known)));
}

/** Throws `Problem` 400 or 404. */
function memberOf({ keys }: EquivocationServices, node: string): NodeId {
  if (!isNodeId(node)) throw fieldProblem('node', 'format', 'is no node id');
  if (keys.rosters.member(node) !== undefined) return node;
  throw new Problem('member-not-found', `No roster of this federation names ${node}.`);
}

function placeOf(cursor: string | undefined): { readonly node: NodeId; readonly batch: number } | null {
  const place = CURSOR.read(cursor);
  return place === undefined ? null : { node: place[0], batch: place[1] };
}
