import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import type { DocsPage, Operation } from '../../pages/page.ts';

const METHODS = ['get', 'post', 'put', 'delete'] as const;
/** A problem, by its page or by its example in the document. */
const CODE = /(?:problems|components\/examples)\/([a-z0-9-]+)/g;

/** The reference for people, from the OpenAPI document: groups by tag, in its order. */
export function referenceOf(document: JsonObject, baseUrl: string): DocsPage {
  const operations = Object.entries(objectOf(document.paths)).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = objectOf(methods)[method];
      if (!isJsonObject(operation)) return [];
      const [tag = 'Other'] = listOf(operation.tags).map(textOf);
      return [{ tag, operation: operationOf(document, { operation, method, path, baseUrl }) }];
    }),
  );
  const groups = Map.groupBy(operations, ({ tag }) => tag);
  return {
    name: 'docs',
    version: textOf(objectOf(document.info).version),
    groups: [...groups].map(([title, members]) => ({ title, operations: members.map(({ operation }) => operation) })),
  };
}

interface Described {
  readonly operation: JsonObject;
  readonly method: (typeof METHODS)[number];
  readonly path: string;
  readonly baseUrl: string;
}

function operationOf(document: JsonObject, { operation, method, path, baseUrl }: Described): Operation {
  const parameters = listOf(operation.parameters).map(objectOf);
  const request = exampleOf(resolved(document, operation.requestBody));
  const responses = objectOf(operation.responses);
  const isKeyed = listOf(operation.security).some((one) => 'apiKey' in objectOf(one));
  const isPaid = '402' in responses;
  const called = `${baseUrl}${parameters.reduce((at, one) => withExample(at, one), path)}`;
  const described = { method: method.toUpperCase(), url: called, isKeyed, request };
  return {
    id: textOf(operation.operationId),
    method: described.method,
    path,
    summary: textOf(operation.summary),
    description: textOf(operation.description),
    access: accessText(isKeyed, isPaid),
    parameters: parameters.map((one) => ({
      name: textOf(one.name),
      in: textOf(one.in),
      required: one.required === true,
      description: textOf(one.description),
    })),
    requestExample: request === null ? null : written(request),
    answerExample: answerText(exampleOf(resolved(document, responses['200']))),
    curl: curlOf(described),
    typescript: typescriptOf(described),
    problems: codesOf(document, responses),
  };
}

function accessText(isKeyed: boolean, isPaid: boolean): string {
  if (isPaid) return 'Paid for by the call: without a payment the answer is 402 and names the terms.';
  return isKeyed ? 'With an API key, in x-api-key.' : 'Free, without an account.';
}

interface Example {
  readonly method: string;
  readonly url: string;
  readonly isKeyed: boolean;
  readonly request: JsonValue | null;
}

function curlOf({ method, url, isKeyed, request }: Example): string {
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    ...(isKeyed ? [`  -H "x-api-key: $MERIDIAN_KEY"`] : []),
    ...(request === null ? [] : ["  -H 'content-type: application/json'", `  -d '${quoted(JSON.stringify(request))}'`]),
  ].join(' \\\n');
}

function typescriptOf({ method, url, isKeyed, request }: Example): string {
  const headers = [
    ...(isKeyed ? ["'x-api-key': process.env.MERIDIAN_KEY ?? ''"] : []),
    ...(request === null ? [] : ["'content-type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(request === null ? [] : [`  body: JSON.stringify(${written(request).replaceAll('\n', '\n  ')}),`]),
  ];
  const rest = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch('${url}'${rest});\nconst answer = await response.json();`;
}

/** For single quotes of a shell. */
function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}

function withExample(path: string, parameter: JsonObject): string {
  const { name, in: where, example } = parameter;
  if (where !== 'path') return path;
  return path.replace(`{${textOf(name)}}`, encodeURIComponent(textOf(example)));
}

/** The codes that its refusals can have. */
function codesOf(document: JsonObject, responses: JsonObject): readonly string[] {
  const texts = Object.values(responses).map((response) => JSON.stringify(resolved(document, response)));
  const codes = [...texts.join(' ').matchAll(CODE)].map(([, code = '']) => code);
  return [...new Set(codes)].filter((code) => code !== '').sort();
}

function exampleOf(described: JsonObject): JsonValue | null {
  const [content] = Object.values(objectOf(described.content)).map(objectOf);
  if (content === undefined) return null;
  const [first] = Object.values(objectOf(content.examples)).map(objectOf);
  return content.example ?? first?.value ?? null;
}

function answerText(example: JsonValue | null): string | null {
  if (example === null) return null;
  return typeof example === 'string' ? example : written(example);
}

function written(value: JsonValue): string {
  return JSON.stringify(value, null, 2);
}

/** What a reference within the document points to, or the value itself. */
function resolved(document: JsonObject, value: JsonValue | undefined): JsonObject {
  const object = objectOf(value);
  const { $ref } = object;
  if (typeof $ref !== 'string') return object;
  const path = $ref.replace(/^#\//, '').split('/');
  return objectOf(path.reduce<JsonValue | undefined>((at, name) => objectOf(at)[name], document));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
