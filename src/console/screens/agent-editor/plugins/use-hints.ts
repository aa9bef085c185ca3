import { useMemo } from 'react';
import type { JsonObject } from '../../../data/guard.ts';
import { useTexts } from '../../../i18n/locale.ts';
import { texts } from './texts.ts';

/** How the forms of known editors are shown, and their names in the language of the user: `ui_schema` of the console. */

const LONG = { 'ui:widget': 'textarea' };

export const useHints = (editor: string): JsonObject => {
  const t = useTexts(texts);
  return useMemo(() => {
    const named = (title: string, description?: string) => ({
      'ui:title': title,
      ...(description !== undefined && { 'ui:description': description }),
    });
    const modes = { 'ui:enumNames': [t('mode.eager'), t('mode.deferred')] };
    const known: Readonly<Record<string, JsonObject>> = {
      'deferred-tools': {
        'ui:order': ['enabled', 'default_mode', 'beta_overhead', 'rules', 'agent_priors', 'disc_beta'],
        enabled: {
          ...named(t('deferred.enabled'), t('deferred.enabled.hint')),
          'ui:enumNames': [t('deferred.always'), t('deferred.never')],
          'ui:unset': t('deferred.auto'),
        },
        default_mode: { ...named(t('deferred.mode')), ...modes },
        beta_overhead: named(t('deferred.overhead'), t('deferred.overhead.hint')),
        rules: {
          ...named(t('rules'), t('deferred.rules.hint')),
          items: { tool: named(t('rule.tool')), mode: { ...named(t('deferred.ruleMode')), ...modes } },
        },
        agent_priors: named(t('deferred.priors'), t('deferred.priors.hint')),
        disc_beta: {
          ...named(t('deferred.learning'), t('deferred.learning.hint')),
          omega: named(t('deferred.omega'), t('deferred.omega.hint')),
          n0: named(t('deferred.n0'), t('deferred.n0.hint')),
          defer_after: named(t('deferred.after'), t('deferred.after.hint')),
          thresh_mult: named(t('deferred.threshold'), t('deferred.threshold.hint')),
          gamma: named(t('deferred.gamma'), t('deferred.gamma.hint')),
        },
      },
      'generative-ui': {
        catalog_id: named(t('ui.catalog'), t('ui.catalog.hint')),
        examples: { ...named(t('ui.examples'), t('ui.examples.hint')), ...LONG },
        instructions: { ...named(t('ui.instructions'), t('ui.instructions.hint')), ...LONG },
      },
      reminder: {
        rules: {
          ...named(t('rules'), t('reminder.rules.hint')),
          items: {
            name: named(t('reminder.name')),
            tool: named(t('rule.tool')),
            output: {
              ...named(t('reminder.output')),
              'ui:enumNames': [t('reminder.any'), t('reminder.certain')],
              status: named(t('reminder.status')),
              content: {
                ...named(t('reminder.result')),
                'ui:enumNames': [t('reminder.pattern'), t('reminder.fields')],
                fields: {
                  ...named(t('reminder.fields')),
                  items: {
                    path: named(t('reminder.path')),
                    op: named(t('reminder.op')),
                    value: named(t('reminder.value')),
                  },
                },
              },
            },
            message: {
              ...named(t('reminder.message')),
              target: named(t('reminder.target')),
              content: { ...named(t('reminder.content')), ...LONG },
              cooldown_turns: named(t('reminder.cooldown'), t('reminder.cooldown.hint')),
            },
          },
        },
      },
    };
    return known[editor] ?? {};
  }, [editor, t]);
};
