import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import type { Route } from '../route.ts';
import { operationId } from './operation-id.ts';

/** An id in answers, and the parameter of other operations that takes it. */
interface Feed {
  /** Pointer into the answer. */
  readonly pointer: string;
  readonly parameter: string;
  /** What it leads to, by the name of the link: method and path of a route. */
  readonly to: Readonly<Record<string, string>>;
}

const OF_RECORDS = {
  verify: 'GET /v1/verify/:id',
  status: 'GET /v1/status/:id',
  bundle: 'GET /v1/bundles/:id',
  proof: 'GET /v1/proofs/:id',
};
const OF_AGENTS = {
  agent: 'GET /v1/agents/:agentId',
  rotateAgent: 'POST /v1/agents/:agentId/rotate',
  deactivateAgent: 'POST /v1/agents/:agentId/deactivate',
  didDocument: 'GET /agents/:agentId/did.json',
};
const FEEDS: readonly Feed[] = [
  { pointer: '/attestationId', parameter: 'id', to: OF_RECORDS },
  { pointer: '/attestation/attestationId', parameter: 'id', to: OF_RECORDS },
  { pointer: '/didDocumentUrl', parameter: 'agentId', to: OF_AGENTS },
  {
    pointer: '/key/id',
    parameter: 'id',
    to: { rotateKey: 'POST /v1/keys/:id/rotate', revokeKey: 'POST /v1/keys/:id/revoke' },
  },
  { pointer: '/lockId', parameter: 'sourceId', to: { retention: 'GET /v1/retention' } },
];
/** Where the value that is passed on is another one than that which tells the kind of answer. */
const PASSED_ON: Readonly<Record<string, string>> = { '/didDocumentUrl': '/agentId', '/lockId': '/sourceId' };

/** The operations that an answer of a route feeds: those of its ids, and its own next page. */
export function linksOf(route: Route, routes: readonly Route[]): JsonObject {
  const { answer, query = {} } = route.documentation;
  if (!('shape' in answer)) return {};
  const links: [string, JsonObject][] = [];
  for (const { pointer, parameter, to } of FEEDS) {
    const passed = PASSED_ON[pointer] ?? pointer;
    if (valueAt(answer.example, pointer) === undefined || valueAt(answer.example, passed) === undefined) continue;
    for (const [name, target] of Object.entries(to)) {
      const found = routes.find(({ method, path }) => `${method} ${path}` === target);
      if (found !== undefined) links.push([name, linkTo(found, { [parameter]: `$response.body#${passed}` })]);
    }
  }
  const isList = query.cursor !== undefined && valueAt(answer.example, '/nextCursor') !== undefined;
  if (isList) {
    links.push(['nextPage', linkTo(route, { ...ownParameters(route), cursor: '$response.body#/nextCursor' })]);
  }
  return Object.fromEntries(links);
}

function linkTo(route: Route, parameters: JsonObject): JsonObject {
  return { operationId: operationId(route), parameters };
}

/** The next page is asked for with the same words as the one before. */
function ownParameters({ documentation: { params = {}, query = {} } }: Route): JsonObject {
  const inPath = Object.keys(params).map((name) => [name, `$request.path.${name}`]);
  const required = Object.entries(query).filter(([, parameter]) => parameter.required === true);
  return Object.fromEntries([...inPath, ...required.map(([name]) => [name, `$request.query.${name}`])]);
}

function valueAt(example: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = example;
  for (const name of pointer.split('/').slice(1)) {
    value = value !== undefined && isJsonObject(value) && !isJsonArray(value) ? value[name] : undefined;
  }
  return value;
}
