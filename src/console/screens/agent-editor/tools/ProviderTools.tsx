import { useState } from 'react';
import type { JsonObject } from '../../../data/guard.ts';
import { boxLook, Field } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { textsOf } from '../draft.ts';
import {
  itemsIn,
  LISTS,
  PROVIDER_TOOLS,
  type ProviderToolType,
  toolOf,
  withItems,
  withTool,
} from './provider-tools.ts';
import css from './Tools.module.css';
import { texts } from './texts.ts';

/** Tools that the model provider executes: no permission applies to them. */

const Items = (props: { type: ProviderToolType; tool: JsonObject; onChange: (tool: JsonObject) => void }) => {
  const t = useTexts(texts);
  const { type, tool } = props;
  const [text, setText] = useState(() => textsOf(tool[LISTS[type]]).join(', '));
  return (
    <Field label={t(`provider.${LISTS[type]}`)} required={type === 'file_search'}>
      {(control) => (
        <input
          {...control}
          type="text"
          value={text}
          spellCheck={false}
          onChange={(event) => {
            setText(event.target.value);
            props.onChange(withItems(tool, type, itemsIn(event.target.value)));
          }}
        />
      )}
    </Field>
  );
};

export const ProviderTools = (props: {
  value: unknown;
  error: string | undefined;
  onChange: (tools: JsonObject[]) => void;
}) => {
  const t = useTexts(texts);
  const { value, error } = props;
  return (
    <Card title={t('provider')}>
      <p className={css.note}>{t('provider.note')}</p>
      <ul className={css.tools} aria-label={t('provider')}>
        {PROVIDER_TOOLS.map((type) => {
          const tool = toolOf(value, type);
          return (
            <li key={type}>
              <label className={css.tool}>
                <input
                  type="checkbox"
                  className={boxLook}
                  checked={tool !== undefined}
                  onChange={(event) =>
                    props.onChange(withTool(value, type, event.target.checked ? newTool(type) : undefined))
                  }
                />
                <span className={css.name}>{type}</span>
                <span className={css.about}>{t(`provider.${type}`)}</span>
              </label>
              {tool && (
                <div className={css.options}>
                  <Items
                    type={type}
                    tool={tool}
                    onChange={(next) => props.onChange(withTool(value, type, next))}
                  />
                </div>
              )}
            </li>
          );
        })}
      </ul>
      {error && (
        <p className={css.note} role="alert">
          {error}
        </p>
      )}
    </Card>
  );
};

const newTool = (type: ProviderToolType): JsonObject => withItems({ type }, type, []);
