import { type FieldError, Problem } from './problem.ts';

/**
 * A fault of an item of a list, or of a member of it: `records[17].data`, `#/records/17/data`. `member`: null where the
 * body is the list.
 */
export function itemError(member: string | null, index: number, code: string, message: string, path = ''): FieldError {
  const rest = path === '' ? '' : `.${path}`;
  return {
    field: `${member ?? ''}[${index}]${rest}`,
    pointer: `#${member === null ? '' : `/${member}`}/${index}${path === '' ? '' : `/${path}`}`,
    code,
    message,
  };
}

/** A refusal of an item by itself, in the words of the list that it stands in. */
export function itemProblem(member: string, index: number, { code, detail, errors, extra, headers }: Problem): Problem {
  const name = `${member}[${index}]`;
  const named = errors.map((error) => ({
    ...error,
    field: error.field === '' ? name : `${name}.${error.field}`,
    pointer: `#/${member}/${index}${error.pointer.slice(1)}`,
  }));
  const isAboutMember = errors[0] !== undefined && detail.startsWith(errors[0].field) && errors[0].field !== '';
  return new Problem(code, isAboutMember ? `${name}.${detail}` : `${name}: ${detail}`, {
    errors: named,
    extra,
    headers,
  });
}
