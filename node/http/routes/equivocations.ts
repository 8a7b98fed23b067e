import Type from 'typebox';
import {
  EQUIVOCATIONS_EXAMPLE,
  EQUIVOCATIONS_PAGE,
  type EquivocationsAnswer,
  EquivocationsAnswerShape,
  EquivocationsQueryShape,
  MISDEED_PROOF_EXAMPLE,
  MisdeedProofAnswerShape,
} from '../../../protocol/api/equivocations.ts';
import { isNodeId, type NodeId } from '../../../protocol/ids.ts';
import type { MisdeedProof } from '../../../protocol/proof/misdeed.ts';
import { NodeIdShape } from '../../../protocol/shapes.ts';
import { type ShownSources, shownAfter } from '../../federation/shown-equivocations.ts';
import { equivocationTable } from '../../federation/equivocations.ts';
import type { CheckpointBook } from '../../log/checkpoint-book.ts';
import type { Misdeeds } from '../../verification/misdeeds.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { fieldError, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import type { FreeRoute } from '../route.ts';

export interface EquivocationRooms extends ShownSources {
  readonly checkpointBook: Pick<CheckpointBook, 'contradicted'>;
  readonly misdeeds: Pick<Misdeeds, 'falseCheckpoint' | 'proofOf'>;
}

/** What stands for a member's false checkpoint in the place of a batch number. */
const CHECKPOINT = 'checkpoint';
const NUMBER = /^[1-9][0-9]{0,14}$/;
const FRESH = { 'Cache-Control': 'no-store' };

/** What members did against the protocol, as far as this node saw it. */
export function equivocationRoutes(rooms: EquivocationRooms): readonly FreeRoute[] {
  return [equivocationsRoute(rooms), misdeedProofRoute(rooms)];
}

/** `GET /v1/equivocations`: the batch numbers that a node told two stories of. */
function equivocationsRoute(rooms: EquivocationRooms): FreeRoute {
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
        'no verdict: the log decides each number once. `falseCheckpoints` are those that the tree of this node contradicts.',
      query: {
        cursor: {
          description: '`nextCursor` of the page before.',
          shape: EquivocationsQueryShape.properties.cursor,
          example: writeCursor(['eu', 1204]),
        },
      },
      answer: { shape: EquivocationsAnswerShape, example: EQUIVOCATIONS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }) {
      const { cursor } = readQuery(query);
      const { page, next } = await shownAfter(rooms, cursor === undefined ? null : placeOf(cursor), EQUIVOCATIONS_PAGE);
      const contradicted = cursor === undefined ? rooms.checkpointBook.contradicted : [];
      const body: EquivocationsAnswer = {
        success: true,
        equivocations: [...page],
        falseCheckpoints: contradicted.map(({ signed }) => signed),
        nextCursor: next === null ? null : writeCursor([next.node, next.batch]),
      };
      return { body, headers: FRESH };
    },
  };
}

/** `GET /v1/equivocations/:node/:what`: the file that proves one to whoever has the genesis roster. */
function misdeedProofRoute(rooms: EquivocationRooms): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/equivocations/:node/:what',
    access: 'free',
    documentation: {
      summary: 'A proof of misbehaviour',
      description:
        'A `meridian-proof/2`, which `npm run verify` judges with no network: of a batch number, both envelopes with the ' +
        'messages that name them, or of a false checkpoint, the checkpoint with those of other members. None is given ' +
        'until both envelopes and both messages are here.',
      params: {
        node: { description: 'Node id of a member, past or present.', shape: NodeIdShape, example: 'eu' },
        what: {
          description: 'A batch number, or `checkpoint`.',
          shape: Type.String({ pattern: `${NUMBER.source.slice(0, -1)}$|^${CHECKPOINT}$` }),
          example: '1204',
        },
      },
      answer: { shape: MisdeedProofAnswerShape, example: MISDEED_PROOF_EXAMPLE },
      problems: ['invalid-field', 'proof-not-found'],
    },
    async answer({ params: { node = '', what = '' } }) {
      if (!isNodeId(node)) throw invalid('node', 'is no node id');
      if (what !== CHECKPOINT && !NUMBER.test(what)) throw invalid('what', `is no batch number and not ${CHECKPOINT}`);
      const proof = await proofOf(rooms, node, what);
      if (proof === null) throw new Problem('proof-not-found', `This node has no such proof about ${node}.`);
      return { body: JSON.stringify(proof), headers: { ...FRESH, 'Content-Type': 'application/json; charset=utf-8' } };
    },
  };
}

async function proofOf(
  { store, misdeeds, checkpointBook }: EquivocationRooms,
  node: NodeId,
  what: string,
): Promise<MisdeedProof | null> {
  if (what === CHECKPOINT) {
    const known = checkpointBook.contradicted.find(({ checkpoint }) => checkpoint.node === node);
    return known === undefined ? null : misdeeds.falseCheckpoint(known);
  }
  const pair = await equivocationTable.get(store, node, Number(what));
  return pair === undefined ? null : misdeeds.proofOf(pair);
}

function placeOf(cursor: string): { readonly node: NodeId; readonly batch: number } {
  const [node, batch] = readCursor(cursor, 2);
  if (typeof node === 'string' && isNodeId(node) && typeof batch === 'number' && batch > 0) return { node, batch };
  throw invalid('cursor', 'is no cursor of this list');
}

function invalid(field: string, message: string): Problem {
  return new Problem('invalid-field', `${field} ${message}`, { errors: [fieldError([field], 'format', message)] });
}
