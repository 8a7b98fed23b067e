import type { DocsPage, Operation, Root } from '../page.ts';

/** The reference of the API, from the document that describes it to programs. */
export function Docs({ page, root }: { readonly page: DocsPage; readonly root: Root }) {
  return (
    <>
      <h1>Reference of the API</h1>
      <p class="lead">
        From <a href={`${root}openapi.json`}>openapi.json</a>, version {page.version}: what is checked is what stands
        here. Clients are generated from it.
      </p>
      <div id="docs-search" />
      {page.groups.map(({ title, operations }) => (
        <section key={title} aria-label={title} class="group">
          <h2>{title}</h2>
          {operations.map((operation) => (
            <OperationView key={operation.id} operation={operation} root={root} />
          ))}
        </section>
      ))}
    </>
  );
}

function OperationView({ operation, root }: { readonly operation: Operation; readonly root: Root }) {
  const { id, method, path, summary, description, access, parameters, problems } = operation;
  return (
    <details id={id} class="operation">
      <summary>
        <code class="method">{method}</code> <code class="wrap">{path}</code> <span>{summary}</span>
      </summary>
      <p>{description}</p>
      <p>{access}</p>
      {parameters.length === 0 ? null : (
        <dl>
          {parameters.map(({ name, in: where, required, description: about }) => [
            <dt key={`${where} ${name}`}>
              <code>{name}</code> ({where}
              {required ? ', required' : ''})
            </dt>,
            <dd key={`${where} ${name} about`}>{about}</dd>,
          ])}
        </dl>
      )}
      <Example title="curl" text={operation.curl} />
      <Example title="TypeScript" text={operation.typescript} />
      {operation.requestExample === null ? null : <Example title="Request" text={operation.requestExample} />}
      {operation.answerExample === null ? null : <Example title="Answer" text={operation.answerExample} />}
      {problems.length === 0 ? null : (
        <p>
          Problems:{' '}
          {problems.map((code, i) => [
            i === 0 ? '' : ', ',
            <a key={code} href={`${root}problems/${code}`}>
              {code}
            </a>,
          ])}
        </p>
      )}
    </details>
  );
}

function Example({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <>
      <h3>{title}</h3>
      <pre tabIndex={0}>{text}</pre>
    </>
  );
}
