import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import type { FormField, Section, TextSection } from '../../pages/console-page.ts';
import { readFormBody } from '../body.ts';
import type { Answer, KeyRoute, PageRoute, Route } from '../route.ts';
import { itemsOf } from './cells.ts';
import type { ApiAnswer, ConsoleApi } from './console-api.ts';
import { type ConsoleContent, consolePage, type ConsolePageServices, refused, signedInRoute } from './console-page.ts';
import { requireToken } from './form-token.ts';
import { fieldsOf, requestOf, titleOf } from './form-fields.ts';
import { type ConsoleForm, FORMS, parametersOf } from './forms.ts';
import { factsFrom, withQuery } from './screen.ts';

const PATH = '/console/forms/:form';
/** What people type: as much as the largest request of governance takes, escaped. */
const BODY = { maxBytes: 3 << 20 };
/** Hidden fields: parameters of the path, and what makes sending the form twice one call. */
const PARAMETER = 'path.';
const ONCE = 'once';

export interface FormPageServices extends ConsolePageServices {
  readonly api: ConsoleApi;
  readonly routes: readonly Route[];
}

/** A form and the route that it asks. */
interface Bound {
  readonly form: ConsoleForm;
  readonly route: KeyRoute;
}

/** What was filled in. */
type Typed = Readonly<Record<string, string>>;

/** `GET` and `POST /console/forms/:form`: every write of the console, each by the call that the API has for it. */
export function formPageRoutes(services: FormPageServices): readonly PageRoute[] {
  const bound = new Map(FORMS.map((form) => [form.name, { form, route: routeOf(services.routes, form) }]));
  return [
    signedInRoute(services, 'GET', PATH, async ({ params, query }, { signedIn }) => {
      const found = bound.get(params.form ?? '');
      if (found === undefined) return consolePage(services, PATH, signedIn, NO_FORM);
      const typed = { ...Object.fromEntries(query), ...given(query, found.form), [ONCE]: randomUUID() };
      return consolePage(services, PATH, signedIn, contentOf(found, typed, {}, []));
    }),
    signedInRoute(services, 'POST', PATH, async ({ context, params }, asker): Promise<Answer> => {
      const sent = await readFormBody(context.req, BODY);
      requireToken(context.req, sent, asker.signedIn);
      const found = bound.get(params.form ?? '');
      if (found === undefined) return consolePage(services, PATH, asker.signedIn, NO_FORM);
      const typed = Object.fromEntries(sent);
      const answer = await services.api.ask(asker, callOf(found, typed));
      const content = answer.status < 300 ? doneOf(found, answer) : againOf(found, typed, answer);
      return consolePage(services, PATH, asker.signedIn, content);
    }),
  ];
}

const NO_FORM: ConsoleContent = {
  title: 'Not found',
  screen: null,
  sections: [refused(new Error('The console has no such form.'))],
  status: 404,
};

/** Throws where there is no such route: a form is for a call that there is. */
function routeOf(routes: readonly Route[], { method, path, name }: ConsoleForm): KeyRoute {
  const found = routes.find((route) => route.method === method && route.path === path);
  if (found?.access === 'key') return found;
  throw new RangeError(`the form ${name} is for ${method} ${path}, which is no call with a key`);
}

/** Parameters of the path, as the links to a form name them. */
function given(query: URLSearchParams, form: ConsoleForm): Typed {
  return Object.fromEntries(parametersOf(form).map((name) => [PARAMETER + name, query.get(name) ?? '']));
}

function callOf({ form, route }: Bound, typed: Typed) {
  const parts = form.path.split('/').map((part) => {
    return part.startsWith(':') ? encodeURIComponent(typed[PARAMETER + part.slice(1)] ?? '') : part;
  });
  const { request } = route.documentation;
  // The records of a form that is sent twice are made once.
  const isOnce = (route.records ?? 0) > 0 || route.idempotent === true;
  return {
    method: form.method,
    path: parts.join('/'),
    ...(request === undefined ? {} : { body: requestOf(request.shape, form.fields, typed) }),
    headers: isOnce ? { 'idempotency-key': typed[ONCE] ?? '' } : {},
  };
}

/** The form, as it was filled in, with what is wrong with each of its fields. */
function contentOf({ form, route }: Bound, typed: Typed, errors: Typed, before: readonly Section[]): ConsoleContent {
  const { request } = route.documentation;
  const parameters = parametersOf(form);
  const fields = request === undefined ? [] : fieldsOf(request.shape, form.fields, request.example);
  const shown = parameters.map((name) => typed[PARAMETER + name] ?? '').join(' ');
  const section: Section = {
    kind: 'form',
    title: shown === '' ? form.title : `${form.title}: ${shown}`,
    about: form.about,
    danger: form.danger,
    method: 'post',
    action: `console/forms/${form.name}`,
    fields: fields.map((field): FormField => filledIn(field, typed, errors)),
    hidden: [...parameters.map((name) => PARAMETER + name), ONCE].map((name) => [name, typed[name] ?? ''] as const),
    submit: form.submit,
    isDrafted: form.fields.length > 0,
  };
  return { title: form.title, screen: form.screen, sections: [...before, section, backOf(form)] };
}

function filledIn(field: Omit<FormField, 'error' | 'value'>, typed: Typed, errors: Typed): FormField {
  return { ...field, value: typed[field.name] ?? '', error: errors[field.name] ?? null };
}

function againOf(bound: Bound, typed: Typed, { status, body }: ApiAnswer): ConsoleContent {
  const errors: Record<string, string> = {};
  for (const { field, message } of itemsOf(body, 'errors')) {
    const [name = ''] = String(field).split('.');
    errors[name] = [errors[name], String(message)].filter((text) => text !== undefined).join('; ');
  }
  const detail = typeof body.detail === 'string' ? body.detail : `The API answered ${status}.`;
  // What was refused made nothing: what is sent next is another request.
  const fresh = { ...typed, [ONCE]: randomUUID() };
  return { ...contentOf(bound, fresh, errors, [refused(new Error(detail), 'Not done')]), status };
}

/** Of an answer, what is no list; a secret that is shown once stands apart. */
function doneOf({ form }: Bound, { body }: ApiAnswer): ConsoleContent {
  const { success: _success, apiKey, secret: signs, ...rest } = body;
  const shownOnce = apiKey ?? signs;
  const paths = pathsOf(rest);
  const titles = Object.fromEntries(paths.map((path) => [path, titleOf(path.split('.').at(-1) ?? '')]));
  const secret: TextSection = {
    kind: 'text',
    title: 'The secret',
    tone: 'good',
    paragraphs: ['It is shown once, now, and is nowhere afterwards.'],
    copy: String(shownOnce),
  };
  const sections: Section[] = [
    { kind: 'text', title: null, tone: 'good', paragraphs: ['● Done.'], copy: null },
    ...(typeof shownOnce === 'string' ? [secret] : []),
    factsFrom(rest, 'What the API answered', null, titles),
    backOf(form),
  ];
  return { title: form.title, screen: form.screen, sections };
}

function pathsOf(body: JsonObject): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null) return [];
    return isJsonObject(value) ? pathsOf(value).map((path) => `${name}.${path}`) : [name];
  });
}

function backOf({ screen }: ConsoleForm): Section {
  return { kind: 'links', title: 'Back', links: [{ text: 'To the list', href: withQuery(`console/${screen}`, {}) }] };
}
