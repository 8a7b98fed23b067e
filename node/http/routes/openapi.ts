import Type from 'typebox';
import { type DocumentOptions, openApiDocument } from '../openapi/document.ts';
import type { FreeRoute, Route } from '../route.ts';

/** `GET /openapi.json`: the OpenAPI 3.1 document of these routes and of itself. */
export function openApiRoute(routes: readonly Route[], options: DocumentOptions): FreeRoute {
  const route: FreeRoute = {
    method: 'GET',
    path: '/openapi.json',
    access: 'free',
    documentation: {
      summary: 'This document',
      answer: { shape: Type.Object({ openapi: Type.Literal('3.1.0') }), example: { openapi: '3.1.0' } },
      problems: [],
    },
    answer: async () => ({ body, headers: { 'Content-Type': 'application/json' } }),
  };
  const body = JSON.stringify(openApiDocument([...routes, route], options));
  return route;
}
