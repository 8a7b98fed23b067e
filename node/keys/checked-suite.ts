import { cachingSuite } from './caching-suite.ts';
import { nativeSuite, verifyApart } from './native-suite.ts';

/**
 * The suite of all that checks members' signatures in a node's main thread: what was checked as it arrived is not checked
 * again for a verdict. What it remembers follows from bytes alone, so every node of a process may share it.
 */
export const checkedSuite = cachingSuite(nativeSuite, verifyApart);
