import Type from 'typebox';
import { ASKED_AGAIN } from '../entity-tag.ts';
import { type DocumentOptions, OPENAPI_VERSION, openApiDocument } from '../openapi/document.ts';
import type { FreeRoute, Route } from '../route.ts';
import { writtenDocument } from '../written-document.ts';

const DocumentShape = Type.Object(
  { openapi: Type.Literal(OPENAPI_VERSION) },
  { description: 'An OpenAPI document (OpenAPI 3.1 §4.8.1).', additionalProperties: true },
);
const EXAMPLE = { openapi: OPENAPI_VERSION, info: { title: 'Meridian', version: '1.0.0' }, servers: [], paths: {} };

/** `GET /openapi.json`: the OpenAPI 3.1 document of these routes and of itself. */
export function openApiRoute(
  routes: readonly Route[],
  { baseUrl, ...options }: Omit<DocumentOptions, 'baseUrl'> & { readonly baseUrl: () => string },
): FreeRoute {
  const route: FreeRoute = {
    method: 'GET',
    path: '/openapi.json',
    access: 'free',
    documentation: {
      summary: 'This document',
      answer: { shape: DocumentShape, example: EXAMPLE },
      problems: [],
    },
    answer: async () => ({ ...(await written()), headers: { ...ASKED_AGAIN, 'Content-Type': 'application/json' } }),
  };
  const write = async (address: string) =>
    JSON.stringify(await openApiDocument([...routes, route], { ...options, baseUrl: address }));
  const written = writtenDocument(baseUrl, write);
  return route;
}
