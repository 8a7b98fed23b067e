import type { Route } from '../route.ts';

/** The name of an operation in generated clients. It is what its method and path make it, and never changes. */
export function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && word !== 'v1');
  return method.toLowerCase() + words.map(capitalized).join('');
}

/** Name of a schema that belongs to one operation, as its request. */
export function schemaName(route: Pick<Route, 'method' | 'path'>, part: 'Request' | 'Answer'): string {
  return capitalized(operationId(route)) + part;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
