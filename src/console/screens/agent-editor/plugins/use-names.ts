import { useCallback } from 'react';
import type { Plugin } from '../../../data/resources.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { texts } from './texts.ts';

/** What settings are called: those that every service has, in the language of the user. */

const KNOWN = ['permission', 'reminder', 'generative-ui', 'deferred_tools', 'skills'] as const;

type Settings = Plugin['config_schemas'][number];

export const useNames = (): ((settings: Settings) => { name: string; about: string }) => {
  const t = useTexts(texts);
  return useCallback(
    ({ key, display_name: name, description: about }) => {
      const known = KNOWN.find((one) => one === key);
      return known ? { name: t(`name.${known}`), about: t(`about.${known}`) } : { name: name || key, about };
    },
    [t],
  );
};
