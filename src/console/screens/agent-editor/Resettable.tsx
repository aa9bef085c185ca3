import type { ReactNode } from 'react';
import { pathOf } from '../../data/request.ts';
import { IconButton } from '../../design/Button.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './AgentEditor.module.css';
import { useAgent } from './agent-form.ts';
import { overriddenIn } from './editing.ts';
import texts from './texts.json' with { type: 'json' };

/** The input of a top-level field, or a group of such inputs. If it is overridden, a button resets it. */
export const Resettable = ({ field, children }: { field: string; children: ReactNode }) => {
  const t = useTexts(texts);
  const { opened, write } = useAgent().form;
  const path = pathOf`/v1/config/agents/${opened.start.id}/overrides/${field}`;
  const isSet = overriddenIn(opened).has(field);
  return (
    <div className={css.resettable} data-reset={isSet || undefined}>
      {children}
      {isSet && (
        <span className={css.reset}>
          <IconButton
            small
            icon="history"
            label={t('resetField')}
            onClick={() => void write({ method: 'DELETE', path })}
          />
        </span>
      )}
    </div>
  );
};
