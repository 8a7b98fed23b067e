import type { JsonObject } from '../../protocol/json/value.ts';
import { type ApiDocument, type Operation, valueOf } from '../fixtures/api-document.ts';

/** Refuses to compile for an answer that no type is known of. */
const KNOWN = 'type Known<T> = 0 extends 1 & T ? never : unknown extends T ? never : T;';

/** A module that calls every operation with its documented example, through the types of openapi-typescript. */
export function callsByFetch({ operations }: ApiDocument): string {
  const calls = operations.map((operation) => {
    const { id, method, template } = operation;
    const { body, ...params } = inputOf(operation);
    const options = JSON.stringify({ params, body });
    return [
      `export async function ${id}() {`,
      `  const { data, error } = await client.${method}('${template}', ${options});`,
      '  return [known(data), error] as const;',
      '}',
    ].join('\n');
  });
  const head = [
    "import createClient from 'openapi-fetch';",
    "import type { paths } from './openapi-typescript.ts';",
    KNOWN,
    'const known = <T>(value: Known<T> & T): T => value;',
    "const client = createClient<paths>({ baseUrl: 'https://eu.example' });",
  ];
  return [...head, ...calls, ''].join('\n');
}

/** The same, by the functions that @hey-api/openapi-ts writes. */
export function callsByFunctions({ operations }: ApiDocument): string {
  const calls = operations.map((operation) => {
    const { id } = operation;
    return [
      `export async function ${id}() {`,
      `  const { data } = await api.${id}(${JSON.stringify(inputOf(operation))});`,
      '  return known(data);',
      '}',
    ].join('\n');
  });
  const head = [
    "import * as api from './hey-api/index.ts';",
    KNOWN,
    'const known = <T>(value: Known<T> & T): T => value;',
  ];
  return [...head, ...calls, ''].join('\n');
}

/** What an operation is called with, by its examples. */
function inputOf(operation: Operation): JsonObject {
  const { request } = operation;
  const places = { path: parametersOf(operation, 'path'), query: parametersOf(operation, 'query') };
  const given = Object.entries(places).filter(([, values]) => Object.keys(values).length > 0);
  return { ...Object.fromEntries(given), ...(request === null ? {} : { body: request.examples[0] ?? null }) };
}

function parametersOf({ parameters }: Operation, place: 'path' | 'query'): JsonObject {
  const wanted = parameters.filter((parameter) => parameter.place === place);
  return Object.fromEntries(wanted.map(({ name, schema, example }) => [name, valueOf(schema, example)]));
}
