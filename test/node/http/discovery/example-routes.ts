import Type from 'typebox';
import type { PaidRoute } from '../../../../node/http/route.ts';
import { Closed } from '../../../../protocol/shapes.ts';

const NoteShape = Closed({
  text: Type.String({ minLength: 1, description: 'What it says.' }),
  tags: Type.Optional(Type.Array(Type.String())),
});
const AnswerShape = Closed({ note: Closed({ id: Type.String(), author: Closed({ name: Type.String() }) }) });
const answer = { shape: AnswerShape, example: { note: { id: 'n1', author: { name: 'A' } } } };
const prepare: PaidRoute['prepare'] = () => () => Promise.resolve({ body: {} });

/** A paid route with a body. */
export const noteRoute: PaidRoute = {
  method: 'POST',
  path: '/v1/x402/attested-screening',
  access: 'paid',
  service: 'attested-screening',
  documentation: {
    summary: 'A note',
    request: { shape: NoteShape, example: { text: 'hello', tags: ['a'] } },
    answer,
    problems: [],
  },
  prepare,
};

/** A paid route with parameters in path and query. */
export const factRoute: PaidRoute = {
  method: 'GET',
  path: '/v1/x402/hedera-facts/:fact',
  access: 'paid',
  service: 'hedera-fact',
  documentation: {
    summary: 'A fact',
    params: { fact: { description: 'Its name.', shape: Type.Enum(['supply', 'nodes']), example: 'supply' } },
    query: {
      unit: { description: 'Of the value.', shape: Type.Enum(['hbar', 'tinybar']), example: 'hbar', required: true },
      at: { description: 'When.', shape: Type.String(), example: 'now' },
    },
    answer,
    problems: [],
  },
  prepare,
};

/** The first route with an answer whose schema has so many members of so many members. */
export function routeWithAnswer(members: number, depth: number): PaidRoute {
  const shape = deepShape(members, depth);
  const { documentation } = noteRoute;
  return { ...noteRoute, documentation: { ...documentation, answer: { shape, example: {} } } };
}

function deepShape(members: number, depth: number): ReturnType<typeof Type.Object> {
  const names = Array.from({ length: members }, (_, i) => `member${i}`);
  const inner = depth === 0 ? Type.String({ description: 'x'.repeat(40) }) : deepShape(members, depth - 1);
  return Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(inner)])));
}
