import { definePlugin } from './define.ts';

/** Agents list it to say that they are observed; the runtime counts and measures every run by itself. */
export const observabilityPlugin = definePlugin({ id: 'observability', create: () => ({}) });
