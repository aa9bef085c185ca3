import { defineTexts } from '../i18n/texts.ts';

export const texts = defineTexts({ tokens: '{count} tok' }, { tokens: '{count} token' });
