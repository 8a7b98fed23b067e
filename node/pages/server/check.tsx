import type { CheckPage, Root } from '../page.ts';

/** Where files are checked by the visitor's own browser. */
export function CheckView({ root }: { readonly page: CheckPage; readonly root: Root }) {
  return (
    <>
      <h1>Check a file on your own machine</h1>
      <p class="lead">
        A bundle, a public proof, a pack of evidence (the ZIP as it is), a proof of misbehaviour, a list of rosters, or
        an export of a key-use log. Nothing is uploaded: your browser does all of it, with the network off if you like.
      </p>
      <div id="check" data-root={root}>
        <p>
          Your browser runs no script here. Take the file <code>meridian-verify.html</code> or{' '}
          <code>meridian-verify.mjs</code> of a release: they need nothing else, and no network.
        </p>
      </div>
    </>
  );
}
