import {
  CHAIN_EXAMPLE,
  type ChainAnswer,
  ChainAnswerShape,
  FromQueryShape,
  PUBLIC_PAGE_CHARACTERS,
  PUBLIC_PAGE_ENTRIES,
} from '../../../protocol/api/public-record.ts';
import { isNodeId, type NodeId } from '../../../protocol/ids.ts';
import { NodeIdShape } from '../../../protocol/shapes.ts';
import type { Chains } from '../../log/chains.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import { readBatch } from '../../records/batch-tables.ts';
import type { Store } from '../../store/store.ts';
import { ASKED_AGAIN } from '../entity-tag.ts';
import { fieldProblem, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import type { FreeRoute } from '../route.ts';

export interface ChainRouteServices {
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
}

/** `GET /v1/chains/:node`: the signed envelopes of a member's batches that this node holds. */
export function chainRoute(services: ChainRouteServices): FreeRoute {
  const readQuery = queryReader(FromQueryShape);
  return {
    method: 'GET',
    path: '/v1/chains/:node',
    access: 'free',
    documentation: {
      summary: "A member's batches as they were signed",
      description:
        'Statements and signatures to the character, oldest first: with `/v1/rosters`, `/v1/signing-keys` and the ' +
        'ledger topic anyone can check the chain. A page has at most ' +
        `${PUBLIC_PAGE_ENTRIES} batches; go on from \`nextFrom\`.`,
      params: { node: { description: 'Node id of a member, past or present.', shape: NodeIdShape, example: 'eu' } },
      query: {
        from: {
          description: 'First batch of the page. Default: 1.',
          shape: FromQueryShape.properties.from,
          example: '1',
        },
      },
      answer: { shape: ChainAnswerShape, example: CHAIN_EXAMPLE },
      problems: ['invalid-field', 'member-not-found'],
    },
    async answer({ params, query }) {
      const { from = 1 } = readQuery(query);
      const body = await pageOf(services, memberOf(services.keys, params.node ?? ''), from);
      return { body, headers: ASKED_AGAIN };
    },
  };
}

async function pageOf({ store, chains }: ChainRouteServices, node: NodeId, from: number): Promise<ChainAnswer> {
  const head = chains.head(node).batch;
  const batches: ChainAnswer['batches'] = [];
  let characters = 0;
  let batch = from;
  for (; batch <= head && batches.length < PUBLIC_PAGE_ENTRIES && characters < PUBLIC_PAGE_CHARACTERS; batch++) {
    const stored = await readBatch(store, node, batch);
    if (stored === undefined) break;
    const { statement, signature } = stored.signed;
    batches.push({ batch, envelope: stored.signed });
    characters += statement.length + signature.length;
  }
  return { success: true, node, head, batches, nextFrom: batch <= head ? batch : null };
}

/** Throws `Problem` 400 or 404. */
function memberOf(keys: FederationKeys, text: string): NodeId {
  if (!isNodeId(text)) {
    throw fieldProblem('node', 'format', 'is no node id');
  }
  if (keys.rosters.member(text) === undefined) {
    throw new Problem('member-not-found', `No roster of this federation names ${text}.`);
  }
  return text;
}
