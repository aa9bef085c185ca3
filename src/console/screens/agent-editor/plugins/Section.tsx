import { useMemo, useState } from 'react';
import type { JsonObject } from '../../../data/guard.ts';
import { Button } from '../../../design/Button.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { isBlank, problemsIn } from '../../../schema-form/check.ts';
import { unreadAt } from '../../../schema-form/context.ts';
import { SchemaForm, useProblemTexts } from '../../../schema-form/SchemaForm.tsx';
import type { PanelProps } from '../panel.ts';
import { isEditable, Permission } from './Permission.tsx';
import css from './Plugins.module.css';
import type { SectionProps } from './section-props.ts';
import { type Settings, sectionFields, sectionOf } from './settings.ts';
import { texts } from './texts.ts';
import { useHints } from './use-hints.ts';
import { useNames } from './use-names.ts';

/** The settings of one plugin, as a form or as JSON. */

/** What is wrong is said while it is typed; what is missing, once somebody has tried to save it. */
const useErrors = (settings: Settings, value: JsonObject, path: string, errors: SectionProps['errors']) => {
  const textOf = useProblemTexts();
  return useMemo(() => {
    const found = problemsIn(settings.schema, value, settings.schema, path);
    const said = found.filter((problem) => !isBlank(problem));
    return new Map([...said.map((problem) => [problem.path, textOf(problem)] as const), ...errors]);
  }, [settings, value, path, errors, textOf]);
};

export const Section = ({ settings, panel }: { settings: Settings; panel: PanelProps }) => {
  const t = useTexts(texts);
  const { draft, change, capabilities, unread } = panel;
  const { key, schema } = settings;
  const path = `sections.${key}`;
  const value = sectionOf(draft, key);
  const errors = useErrors(settings, value, path, panel.errors);
  const hints = useHints(settings.editor);
  const [isWanted, showJson] = useState(false);
  // What is no JSON yet is nowhere else.
  const isJson = isWanted || path in unread;
  const isHalf = unreadAt(unread, path).length > 0;
  const onChange = (next: JsonObject): void => change(sectionFields(draft, key, next));
  const isOwn = settings.editor === 'permission' && isEditable(value);
  const { name, about } = useNames()(settings);
  return (
    <>
      <div className={css.sectionHead}>
        <div>
          <h3>{name}</h3>
          {about && <p className={css.note}>{about}</p>}
        </div>
        <Button small tone="quiet" aria-pressed={isJson} disabled={isHalf} onClick={() => showJson(!isJson)}>
          {t('json')}
        </Button>
      </div>
      {isOwn && !isJson ? (
        <Permission
          value={value}
          path={path}
          errors={errors}
          tools={capabilities.tools.map(({ id }) => id)}
          onChange={onChange}
        />
      ) : (
        <SchemaForm
          label={t('json.of', { what: name })}
          schema={schema}
          ui={{ ...settings.ui_schema, ...hints }}
          value={value}
          path={path}
          errors={errors}
          unread={unread}
          onUnread={panel.onUnread}
          onChange={onChange}
          asJson={isJson}
        />
      )}
    </>
  );
};
