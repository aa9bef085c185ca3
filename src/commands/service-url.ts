import { settingsFrom } from '../settings.ts';

/** Where commands look for a running service. */
export const SERVICE_URL = `http://${settingsFrom({}).http_addr}`;
