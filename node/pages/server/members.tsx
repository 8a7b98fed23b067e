import type { MemberLine } from '../page.ts';
import { Foreign } from './foreign.tsx';

/** The members of the federation, as this node sees them. */
export function Members({ members }: { readonly members: readonly MemberLine[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Members">
      <table>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Region</th>
            <th scope="col">Records held here</th>
            <th scope="col">Last batch</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {members.map(({ node, region, baseUrl, records, batch, connected, trusted }) => (
            <tr key={node}>
              <th scope="row">
                <a href={baseUrl} rel="noreferrer">
                  <Foreign text={node} />
                </a>
              </th>
              <td>
                <Foreign text={region} />
              </td>
              <td class="number">{records}</td>
              <td class="number">{batch}</td>
              <td>{stateOf(connected, trusted)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function stateOf(connected: boolean, trusted: boolean): string {
  if (!trusted) return '✕ told two stories';
  return connected ? '● connected' : '○ not connected';
}
