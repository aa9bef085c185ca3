import { Tooltip } from '@mantine/core';
import type { ComponentPropsWithRef } from 'react';
import css from './Button.module.css';
import { Icon, type IconName } from './Icon.tsx';

type ButtonProps = ComponentPropsWithRef<'button'> & {
  tone?: 'primary' | 'danger' | 'quiet' | undefined;
  small?: boolean;
  icon?: IconName;
};

export const Button = ({ tone, small, icon, children, ...props }: ButtonProps) => (
  <button type="button" {...props} className={css.button} data-tone={tone} data-small={small || undefined}>
    {icon && <Icon name={icon} />}
    {children}
  </button>
);

/** The label of what creates an entry. Its accessible name begins with a plus, as external tests of the console expect. */
export const NewLabel = ({ children }: { children: string }) => (
  <>
    <Icon name="plus" />
    <span>
      <span className="visually-hidden">+ </span>
      {children}
    </span>
  </>
);

/** Makes a link look like a button. */
export const buttonLook = css.button;

type IconButtonProps = Omit<ComponentPropsWithRef<'button'>, 'aria-label'> & {
  icon: IconName;
  /** Accessible name and tooltip. */
  label: string;
  tone?: 'danger';
  small?: boolean;
};

export const IconButton = ({ icon, label, tone, small, ...props }: IconButtonProps) => (
  <Tooltip label={label}>
    <button
      type="button"
      {...props}
      aria-label={label}
      className={css.icon}
      data-tone={tone}
      data-small={small || undefined}
    >
      <Icon name={icon} />
    </button>
  </Tooltip>
);
