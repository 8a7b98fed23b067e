import type { MissingPage, ProblemPage, Root } from '../page.ts';
import { Foreign } from './foreign.tsx';

/** What a refusal means, and what to do. */
export function ProblemView({ page, root }: { readonly page: ProblemPage; readonly root: Root }) {
  const { code, title, status, meaning } = page;
  return (
    <>
      <h1>{title}</h1>
      <dl>
        <dt>Code</dt>
        <dd>
          <code>{code}</code>
        </dd>
        <dt>Status</dt>
        <dd>{status}</dd>
      </dl>
      <h2>What it means, and what to do</h2>
      <p class="lead">{meaning}</p>
      <p>
        Every refusal has this code as <code>code</code>, the fields at fault under <code>errors</code>, and a{' '}
        <code>requestId</code> by which the operator finds it. <a href={`${root}docs`}>Reference of the API</a>
      </p>
    </>
  );
}

/** What is not here. */
export function Missing({ page, root }: { readonly page: MissingPage; readonly root: Root }) {
  return (
    <>
      <h1>Not found</h1>
      <p class="lead">
        <Foreign text={page.what} />
      </p>
      <p>
        <a href={root}>To the first page</a>
      </p>
    </>
  );
}
