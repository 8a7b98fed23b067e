// What the generated types refuse: each line below is one that a compiler must not take.
import createClient from 'openapi-fetch';
import { getAttestations, postKeys, postSignUp } from '../generated/hey-api/index.ts';
import type { components, paths } from '../generated/openapi-typescript.ts';

const client = createClient<paths>({ baseUrl: 'https://eu.example' });

export function refused(): void {
  // @ts-expect-error data is required
  void client.POST('/v1/attest', { body: { sourceId: 'loan-model' } });
  // @ts-expect-error a source is a text
  void client.POST('/v1/attest', { body: { sourceId: 7, data: {} } });
  // @ts-expect-error one of five levels
  void client.POST('/v1/attest', { body: { sourceId: 'loan-model', data: {}, riskLevel: 'some' } });
  // @ts-expect-error neither preset nor scopes
  void client.POST('/v1/keys', { body: { name: 'loader' } });
  // @ts-expect-error neither records nor a person
  void client.POST('/v1/erasures', { body: { legalBasis: 'GDPR', requestedBy: 'privacy-office' } });
  // @ts-expect-error a number
  void client.GET('/v1/attestations', { params: { query: { limit: '50' } } });
  // @ts-expect-error no such path
  void client.GET('/v1/attestation', {});
  // @ts-expect-error no such member
  void postSignUp({ body: { email: 'ada@example.org', compress: true } });
  // @ts-expect-error neither preset nor scopes
  void postKeys({ body: { name: 'loader' } });
  // @ts-expect-error a number
  void getAttestations({ query: { limit: '50' } });
}

/** Any members of a decision's data, and what an answer says of them. */
export function taken({ data }: components['schemas']['PostAttestRequest']): unknown {
  return data['anything at all'];
}

// @ts-expect-error no such member
export type Nothing = components['schemas']['PostAttestAnswer']['nothing'];
