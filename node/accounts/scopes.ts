export { KEY_PRESETS, type KeyPreset, PRESET_NAMES, type Scope, SCOPES } from '../../protocol/api/scopes.ts';
