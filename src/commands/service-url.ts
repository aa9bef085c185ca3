import { settingsFrom } from '../settings/index.ts';

/** Default address of a running service for the commands. */
export const SERVICE_URL = `http://${settingsFrom({}).http_addr}`;
