import { type Claims, ClaimsShape, type Links, LinksShape } from './claims.ts';

type Loose<Shape> = { readonly [Name in keyof Shape]?: Shape[Name] | undefined };

/** Claims with members that may be undefined, in any order. */
export type Facts = Pick<Claims, 'channel'> & Loose<Claims>;
/** Links with members that may be undefined, in any order. */
export type LinkFacts = Loose<Links>;

const CLAIM_NAMES = namesOf<Claims>(ClaimsShape.properties);
const LINK_NAMES = namesOf<Links>(LinksShape.properties);

/** The claims that some facts make: those that are given, with their members in canonical order. */
export function claimsOf(facts: Facts): Claims {
  return { ...given<Claims>(facts, CLAIM_NAMES), channel: facts.channel };
}

/** The links that are given, with their members in canonical order. */
export function linksOf(facts: LinkFacts): Links {
  return given<Links>(facts, LINK_NAMES);
}

function given<Shape>(facts: Loose<Shape>, names: readonly (keyof Shape)[]): Partial<Shape> {
  const members: Partial<Shape> = {};
  for (const name of names) {
    const value = facts[name];
    if (value !== undefined) members[name] = value;
  }
  return members;
}

function namesOf<Shape>(properties: { readonly [Name in keyof Required<Shape>]: unknown }): (keyof Shape & string)[] {
  const names: (keyof Shape & string)[] = [];
  for (const name in properties) names.push(name);
  return names.sort();
}
