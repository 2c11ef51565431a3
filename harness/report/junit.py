def render(folder, figures):
    return ""
