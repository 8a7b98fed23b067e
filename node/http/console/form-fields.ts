import type { TSchema } from 'typebox';
import { parseJson } from '../../../protocol/json/parse.ts';
import { isJsonArray, isJsonObject, JsonError, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import type { FieldKind, FormField } from '../../pages/console-page.ts';

/** Longest text that stands in one line. */
const LINE_CHARACTERS = 300;
/** Nesting of what is typed as JSON. */
const TYPED_DEPTH = 16;

/** A member of a request, as a person fills it in. */
interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: 'boolean' | 'choice' | 'json' | 'list' | 'number' | 'text';
  readonly choices: readonly string[];
  /** Words that stand in the place of a list and in none, as `all` does. */
  readonly alone: readonly string[];
  readonly description: string | null;
  readonly maxLength: number | null;
  readonly isTime: boolean;
}

/** A member's name as people read it: `incidentPeriodStart` is "Incident period start". */
export function titleOf(name: string): string {
  const words = name
    .replace(/_/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * The fields of a request, of the very schema that checks it, in the order of `names`. `example`: a request of the
 * documentation, which the help of each field quotes.
 */
export function fieldsOf(
  shape: TSchema,
  names: readonly string[],
  example: JsonValue,
): readonly Omit<FormField, 'error' | 'value'>[] {
  const examples = isJsonObject(example) ? example : {};
  return names.map((name) => {
    const member = memberOf(shape, name);
    return {
      name,
      title: titleOf(name),
      kind: kindOf(member),
      choices: member.type === 'list' ? [] : member.choices,
      isRequired: member.isRequired,
      help: helpOf(member, examples[name]),
      maxLength: member.type === 'text' ? member.maxLength : null,
    };
  });
}

/**
 * The request that was filled in: what is left empty is left out. What is no JSON where JSON is asked for is handed on as
 * the text that it is, for the API to refuse.
 */
export function requestOf(
  shape: TSchema,
  names: readonly string[],
  typed: Readonly<Record<string, string>>,
): JsonObject {
  const request: [string, JsonValue][] = [];
  for (const name of names) {
    const text = (typed[name] ?? '').replace(/\r\n/g, '\n');
    if (text.trim() !== '') request.push([name, valueOf(memberOf(shape, name), text)]);
  }
  return Object.fromEntries(request);
}

function valueOf({ type, alone }: Member, text: string): JsonValue {
  const trimmed = text.trim();
  if (alone.includes(trimmed)) return trimmed;
  switch (type) {
    case 'text':
    case 'choice':
      return trimmed;
    case 'boolean':
      return trimmed === 'yes';
    case 'number':
      return Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
    case 'list':
      return trimmed.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
    case 'json':
      return jsonOf(trimmed);
  }
}

function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text, { maxDepth: TYPED_DEPTH });
  } catch (error) {
    if (error instanceof JsonError) return text;
    throw error;
  }
}

/** Throws where the schema has no such member: a form names what there is. */
function memberOf(shape: TSchema, name: string): Member {
  const { properties, required } = objectOf(isSchema(shape) ? shape : {});
  const found = properties[name];
  if (!isSchema(found)) throw new RangeError(`the request has no ${name}`);
  const plain = withoutNull(found);
  const { type, choices } = typeOf(plain);
  const { description, maxLength } = plain;
  return {
    name,
    isRequired: required.includes(name),
    type,
    choices,
    alone: type === 'list' ? textWordsOf(plain).filter((word) => !choices.includes(word)) : [],
    description: typeof description === 'string' ? description : null,
    maxLength: typeof maxLength === 'number' ? maxLength : null,
    isTime: isTime(plain),
  };
}

type Schema = Readonly<Record<string, unknown>>;

/** Of a request in several forms, the members of all of them; those that every form needs are required. */
function objectOf(shape: Schema): { readonly properties: Schema; readonly required: readonly unknown[] } {
  const { properties, required, oneOf, anyOf } = shape;
  const forms = [oneOf, anyOf].flatMap((list) => (Array.isArray(list) ? list.filter(isSchema) : [])).map(objectOf);
  const own = isSchema(properties) ? properties : {};
  const needs = Array.isArray(required) ? required : [];
  const shared =
    forms.length === 0 ? [] : forms.map((form) => form.required).reduce((a, b) => a.filter((one) => b.includes(one)));
  return {
    properties: Object.assign({}, own, ...forms.map((form) => form.properties)),
    required: [...needs, ...shared],
  };
}

function withoutNull(schema: Schema): Schema {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const others = anyOf.filter(isSchema).filter(({ type }) => type !== 'null');
  const [only] = others;
  return others.length === 1 && only !== undefined ? only : schema;
}

function typeOf(schema: Schema): Pick<Member, 'choices' | 'type'> {
  const { type, items, anyOf } = schema;
  if (Array.isArray(schema.enum)) return { type: 'choice', choices: schema.enum.map(String) };
  if (type === 'boolean') return { type: 'boolean', choices: ['yes', 'no'] };
  if (type === 'integer' || type === 'number') return { type: 'number', choices: [] };
  if (type === 'array') {
    return isSchema(items) && isText(items) ? { type: 'list', choices: wordsOf(items) } : { type: 'json', choices: [] };
  }
  if (type === 'object') return { type: 'json', choices: [] };
  const lists = Array.isArray(anyOf) ? anyOf.filter(isSchema).filter((one) => one.type === 'array') : [];
  return lists.length > 0 ? { type: 'list', choices: lists.flatMap(wordsOf) } : { type: 'text', choices: [] };
}

/** The words that a text, or an item of a list, is one of; none where it is free. */
function wordsOf({ enum: words, anyOf, items }: Schema): readonly string[] {
  if (Array.isArray(words)) return words.map(String);
  if (isSchema(items)) return wordsOf(items);
  return Array.isArray(anyOf) ? anyOf.filter(isSchema).flatMap(wordsOf) : [];
}

/** The words of those forms that are a text and no list. */
function textWordsOf({ anyOf }: Schema): readonly string[] {
  return Array.isArray(anyOf) ? anyOf.filter(isSchema).filter(isText).flatMap(wordsOf) : [];
}

function isText(schema: Schema): boolean {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return anyOf.filter(isSchema).every(isText);
  return type === 'string' || Array.isArray(schema.enum);
}

function isTime(schema: Schema): boolean {
  const { format, anyOf } = schema;
  if (Array.isArray(anyOf)) return anyOf.filter(isSchema).some(isTime);
  return format === 'date-time' || format === 'date';
}

function kindOf({ type, maxLength, isTime: isMoment }: Member): FieldKind {
  if (type === 'choice' || type === 'boolean') return 'choice';
  if (type === 'number') return 'number';
  if (type === 'list' || type === 'json') return 'area';
  if (isMoment) return 'time';
  return maxLength !== null && maxLength > LINE_CHARACTERS ? 'area' : 'text';
}

function helpOf(
  { description, type, choices, alone, isTime: isMoment }: Member,
  example: JsonValue | undefined,
): string | null {
  const parts = [
    description,
    type === 'list' ? 'One a line.' : null,
    type === 'list' && choices.length > 0 ? `Among them: ${choices.join(', ')}.` : null,
    alone.length > 0 ? `Or alone: ${alone.join(', ')}.` : null,
    type === 'json' ? 'As JSON.' : null,
    isMoment ? 'A time as 2026-11-20T15:30:00Z, or a day.' : null,
    example === undefined ? null : `For example: ${exampleOf(example)}`,
  ];
  const told = parts.filter((part) => part !== null);
  return told.length === 0 ? null : told.join(' ');
}

function exampleOf(example: JsonValue): string {
  if (typeof example === 'string') return example;
  if (isJsonArray(example) && example.every((one) => typeof one === 'string')) return example.join(' · ');
  return JSON.stringify(example);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
