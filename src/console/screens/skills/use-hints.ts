import { useMemo } from 'react';
import type { JsonObject } from '../../data/guard.ts';
import { useTexts } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

const SHORT = { 'ui:widget': 'textarea', 'ui:options': { rows: 2 } };

/** How the fields of a skill are shown, in the words of `ui_schema`. */
export const useHints = ({ isNew, hasPaths }: { isNew: boolean; hasPaths: boolean }): JsonObject => {
  const t = useTexts(texts);
  return useMemo(() => {
    const named = (title: string, description?: string) => ({
      'ui:title': title,
      ...(description !== undefined && { 'ui:description': description }),
    });
    return {
      'ui:order': [
        'id',
        'name',
        'description',
        'when_to_use',
        'user_invocable',
        'model_invocable',
        'context',
        'model_override',
        'argument_hint',
        'arguments',
        'allowed_tools',
        'paths',
      ],
      id: { ...named(t('id'), t(isNew ? 'id.hint' : 'id.fixed')), 'ui:readonly': !isNew },
      name: named(t('column.name')),
      description: { ...named(t('column.description'), t('description.hint')), ...SHORT },
      when_to_use: { ...named(t('when'), t('when.hint')), ...SHORT },
      instructions_md: { 'ui:widget': 'hidden' },
      user_invocable: { ...named(t('user')), 'ui:widget': 'checkbox' },
      model_invocable: { ...named(t('model')), 'ui:widget': 'checkbox' },
      context: {
        ...named(t('column.context')),
        'ui:enumNames': [t('context.inline'), t('context.fork')],
      },
      model_override: named(t('override'), t('override.hint')),
      argument_hint: named(t('argumentHint'), t('argumentHint.hint')),
      arguments: {
        ...named(t('arguments'), t('arguments.hint')),
        items: {
          name: named(t('column.name')),
          description: named(t('column.description')),
          required: { ...named(t('required')), 'ui:widget': 'checkbox' },
        },
      },
      allowed_tools: named(t('tools'), t('tools.hint')),
      paths: { ...named(t('paths'), t('paths.hint')), ...(!hasPaths && { 'ui:widget': 'hidden' }) },
    };
  }, [t, isNew, hasPaths]);
};
