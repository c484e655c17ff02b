/* SPDX-License-Identifier: MIT */
/* g++ -g -O1 -shared -nostdlib -fPIC -Wl,--build-id=none -fno-rtti -fno-exceptions -o cxx.so cxx.cc
 */
typedef unsigned long size_t;
namespace std
{
template <class T> struct impl {
	T *_M_start, *_M_finish, *_M_end_of_storage;
};
template <class T> class vector
{
      public:
	struct : impl<T> {
	} _M_impl;
	~vector()
	{
	}
};
template <class K, class V> class map
{
      public:
	struct {
		char color;
		void *left;
		size_t _M_node_count;
	} _M_t;
};
template <class T> class unique_ptr
{
      public:
	struct {
		T *_M_head_impl;
	} _M_t;
	~unique_ptr()
	{
	}
};
template <class T> class optional
{
      public:
	struct {
		union {
			char e;
			T _M_value;
		} _M_payload;
		bool _M_engaged;
	} _M_payload;
};
template <class C, class R> class basic_string
{
      public:
	C *_M_p;
	size_t _M_string_length;
	char _M_local[16];
	~basic_string()
	{
	}
};
template <class C> struct char_traits {
};
template <class C, class R> class basic_string_view
{
      public:
	size_t _M_len;
	const C *_M_str;
};
} // namespace std
typedef std::basic_string<char, std::char_traits<char>> string;
struct base {
	int kind;
	virtual ~base();
};
struct thing : base {
	std::vector<int> v;
	std::vector<string> s;
	thing *next;
	int base::*m;
	void (base::*f)();
	const string &r;
};
base::~base()
{
}
int use(const thing &t, std::vector<thing *> v, const std::map<int, int> &m,
	std::unique_ptr<thing> p)
{
	return t.kind;
}
std::optional<double> opt(const std::optional<int> &o, std::optional<string *> s,
			  std::basic_string_view<char, std::char_traits<char>> w)
{
	return {};
}
